//! Every format against values computed by programs that are not ours (`oracle/gguf/make_vectors.py`).

use std::{fs, path::PathBuf};

use quant::{Format, Matrix};
use serde_json::Value;

/// One case of the manifest with its files.
struct Case {
    what: String,
    name: String,
    format: Format,
    rows: usize,
    cols: usize,
    bytes: Vec<u8>,
    scales: Vec<u8>,
    values: Vec<f32>,
}

fn cases(what: &str) -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../oracle/gguf/vectors");
    let manifest = fs::read(folder.join("manifest.json")).expect("the vectors are part of the repository");
    let manifest: Vec<Value> = serde_json::from_slice(&manifest).expect("the manifest is a list");
    let case = |entry: &Value| {
        let text = |key: &str| entry[key].as_str().expect(key).to_owned();
        let number = |key: &str| entry[key].as_u64().expect(key) as usize;
        let file = |part: &str| fs::read(folder.join(format!("{}.{part}", text("name"))));
        Case {
            what: text("what"),
            name: text("name"),
            format: Format::from_name(&text("format")).expect("the manifest names known formats"),
            rows: number("rows"),
            cols: number("cols"),
            bytes: file("bytes").expect("every case has bytes"),
            scales: file("scales").unwrap_or_default(),
            values: file("values")
                .expect("every case has values")
                .as_chunks::<4>()
                .0
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes))
                .collect(),
        }
    };
    manifest.iter().map(case).filter(|case| case.what == what).collect()
}

fn decoded(matrix: &Matrix<'_>) -> Vec<f32> {
    let mut values = vec![0.0; matrix.rows * matrix.cols];
    for (r, row) in values.chunks_exact_mut(matrix.cols).enumerate() {
        matrix.decode_row(r, row);
    }
    values
}

/// Our order of operations is that of the reference for every format, so the bits are equal; only the payload of a NaN
/// is left open, since it depends on the machine.
#[test]
fn decodes_to_the_reference_bits() {
    let cases = cases("decode");
    for format in Format::ALL {
        assert!(cases.iter().any(|case| case.format == *format), "no vector for {format}");
    }
    for case in cases {
        let matrix =
            Matrix::new(case.format, case.rows, case.cols, &case.bytes, &case.scales).expect(&case.name);
        for (i, (found, expected)) in decoded(&matrix).iter().zip(&case.values).enumerate() {
            let equal = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(equal, "{} value {i}: {found:e}, expected {expected:e}", case.name);
        }
    }
}

#[test]
fn encodes_to_the_reference_bytes() {
    for case in cases("encode") {
        let (mut bytes, mut scales) = (Vec::new(), Vec::new());
        for row in case.values.chunks_exact(case.cols) {
            case.format.encode_row(row, &mut bytes, &mut scales).expect(&case.name);
        }
        let differs = bytes.iter().zip(&case.bytes).position(|(found, expected)| found != expected);
        assert_eq!((bytes.len(), differs), (case.bytes.len(), None), "{}", case.name);
        assert_eq!(scales, case.scales, "{}", case.name);
    }
}

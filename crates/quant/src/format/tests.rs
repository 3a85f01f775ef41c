//! The formats against their published geometry.

use super::*;

/// The table as published: name, columns of a block, bytes of a block, bytes and scales of a row of 512.
#[test]
fn has_the_published_geometry() {
    let rows = [
        ("f32", 1, 4, 2048, 0),
        ("f16", 1, 2, 1024, 0),
        ("bf16", 1, 2, 1024, 0),
        ("int8-row", 1, 1, 512, 1),
        ("int4-row", 2, 1, 256, 1),
        ("int4-g32", 2, 1, 256, 16),
        ("int4-g64", 2, 1, 256, 8),
        ("int4-g128", 2, 1, 256, 4),
        ("int4-g256", 2, 1, 256, 2),
        ("q8_0", 32, 34, 544, 0),
        ("q4_0", 32, 18, 288, 0),
        ("q4_1", 32, 20, 320, 0),
        ("q5_0", 32, 22, 352, 0),
        ("q5_1", 32, 24, 384, 0),
        ("q2_k", 256, 84, 168, 0),
        ("q3_k", 256, 110, 220, 0),
        ("q4_k", 256, 144, 288, 0),
        ("q5_k", 256, 176, 352, 0),
        ("q6_k", 256, 210, 420, 0),
        ("iq4_nl", 32, 18, 288, 0),
        ("iq4_xs", 256, 136, 272, 0),
        ("mxfp4", 32, 17, 272, 0),
    ];
    assert_eq!(rows.len(), Format::ALL.len());
    for (name, elements, bytes, row_bytes, scales) in rows {
        let format = Format::from_name(name).expect(name);
        assert_eq!(format.to_string(), name);
        assert_eq!((format.block_elements(), format.block_bytes()), (elements, bytes), "{name}");
        assert_eq!(format.row_bytes(512), Some(row_bytes), "{name}");
        assert_eq!(format.scales_per_row(512), scales, "{name}");
        assert!(Format::ALL.contains(&format));
    }
}

#[test]
fn knows_the_groups() {
    let rows = [
        ("bf16", None),
        ("int8-row", None),
        ("int4-row", None),
        ("int4-g128", Some(128)),
        ("q8_0", Some(32)),
        ("q2_k", Some(16)),
        ("q3_k", Some(16)),
        ("q4_k", Some(32)),
        ("q6_k", Some(16)),
        ("iq4_xs", Some(32)),
    ];
    for (name, group) in rows {
        assert_eq!(Format::from_name(name).expect(name).group_elements(), group, "{name}");
    }
}

#[test]
fn refuses_broken_rows_and_overflow() {
    let rows = [
        ("q8_0", 31, None),
        ("q4_k", 128, None),
        ("int4-row", 5, Some(3)),
        ("int4-g64", 1, Some(1)),
        ("int8-row", 5, Some(5)),
        ("f32", usize::MAX, None),
        ("f32", 0, Some(0)),
    ];
    for (name, cols, bytes) in rows {
        assert_eq!(Format::from_name(name).expect(name).row_bytes(cols), bytes, "{name} of {cols}");
    }
}

#[test]
fn knows_every_decodable_dtype() {
    for format in Format::ALL {
        let expected = (format.scales_per_row(256) == 0).then_some(*format);
        assert_eq!(Format::from_dtype(format.dtype()), expected, "{format}");
    }
    for dtype in [Dtype::U8, Dtype::I8, Dtype::F64, Dtype::F8E4M3, Dtype::Q8_1, Dtype::Q8K, Dtype::GgufOther]
    {
        assert_eq!(Format::from_dtype(dtype), None, "{dtype}");
    }
    assert_eq!(Format::from_name("Q4_K"), None);
    assert_eq!(Format::from_name("int4-g48"), None);
}

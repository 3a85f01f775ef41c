//! What the writer makes, read by the reference library.

#![allow(missing_docs)]

use std::{collections::BTreeMap, fs, path::Path};

use checkpoint::{Checkpoint, Declared, Error, FileIdx, SafetensorsWriter};
use units::Dtype;

fn declared(name: &str, dtype: Dtype, shape: &[u64]) -> Declared {
    Declared { name: name.to_string(), dtype, shape: shape.to_vec() }
}

fn three() -> [Declared; 3] {
    [declared("b", Dtype::F32, &[2, 2]), declared("none", Dtype::U8, &[0]), declared("a", Dtype::F4, &[2, 4])]
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_reference_library_reads_what_was_written() -> Result<(), Error> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("model.safetensors");
    let metadata: BTreeMap<_, _> = [("colibri.fmt".to_string(), "int8-row \"ü\"".to_string())].into();
    let bytes: Vec<u8> = (0..20).collect();
    let mut writer = SafetensorsWriter::create(&path, &three(), &metadata)?;
    writer.write("b", &bytes[..5])?;
    writer.write("b", &bytes[5..16])?;
    assert_eq!(names(directory.path()), ["model.safetensors.partial"]);
    writer.write("a", &bytes[16..])?;
    writer.finish()?;
    assert_eq!(names(directory.path()), ["model.safetensors"]);

    let file = fs::read(&path).expect("it has its name");
    let theirs = safetensors::SafeTensors::deserialize(&file).expect("a legal file");
    assert_eq!(theirs.len(), 3);
    for (name, shape, data) in
        [("b", vec![2, 2], &bytes[..16]), ("a", vec![2, 4], &bytes[16..]), ("none", vec![0], &[][..])]
    {
        let view = theirs.tensor(name).expect("it is there");
        assert_eq!((view.shape(), view.data()), (shape.as_slice(), data), "{name}");
    }
    fs::write(directory.path().join("config.json"), "{}").expect("writable");
    let ours = Checkpoint::open(directory.path())?;
    assert_eq!(ours.metadata_stamp(FileIdx(0)), Some("int8-row \"ü\""));
    assert_eq!(ours.tensors().next().map(|first| first.offset_bytes % 4096), Some(0));
    assert_eq!(ours.read(ours.tensor("a").expect("it is there"))?, bytes[16..]);
    Ok(())
}

#[test]
fn a_file_is_whole_or_not_there() -> Result<(), Error> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("model.safetensors");
    let none = BTreeMap::new();
    let mut writer = SafetensorsWriter::create(&path, &three(), &none)?;
    let message = |error: Error| error.to_string().replace(&path.display().to_string(), "m");
    let early = writer.write("a", &[0; 4]).map_err(message);
    assert_eq!(early, Err("m: tensor `a`: needed `b` first; found 4 bytes".to_string()));
    let much = writer.write("b", &[0; 17]).map_err(message);
    assert_eq!(much, Err("m: tensor `b`: needed at most 16 further bytes; found 17".to_string()));
    writer.write("b", &[0; 10])?;
    let unfinished = writer.finish().map_err(message);
    assert_eq!(unfinished, Err("m: tensor `b`: needed 6 further bytes; found the end".to_string()));
    drop(SafetensorsWriter::create(&path, &three(), &none)?);
    assert!(names(directory.path()).is_empty());

    let twice = [declared("a", Dtype::U8, &[1]), declared("a", Dtype::U8, &[1])];
    for tensors in [&twice[..], &[declared("q", Dtype::Q4K, &[256])], &[declared("odd", Dtype::F4, &[3])]] {
        assert!(SafetensorsWriter::create(&path, tensors, &none).is_err());
    }
    let nowhere = directory.path().join("gone").join("model.safetensors");
    let error =
        SafetensorsWriter::create(&nowhere, &[], &none).expect_err("the directory is absent").to_string();
    assert!(error.starts_with(&nowhere.display().to_string()), "{error}");
    Ok(())
}

#[test]
fn an_older_file_stays_until_the_new_one_is_whole() -> Result<(), Error> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("model.safetensors");
    fs::write(&path, "old").expect("writable");
    let mut writer = SafetensorsWriter::create(&path, &[declared("a", Dtype::U8, &[3])], &BTreeMap::new())?;
    writer.write("a", b"new")?;
    assert_eq!(fs::read(&path).ok().as_deref(), Some(b"old".as_slice()));
    writer.finish()?;
    assert!(fs::read(&path).is_ok_and(|bytes| bytes.ends_with(b"new")));
    Ok(())
}

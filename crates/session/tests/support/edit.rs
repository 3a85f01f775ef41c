//! Checkpoints that a test takes apart and writes anew.

use std::{collections::BTreeMap, fs, path::Path};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde_json::Value;

/// A checkpoint folder in memory.
#[derive(Clone)]
pub struct Draft {
    /// `config.json`.
    pub config: Value,
    /// Tensors by name: dtype, shape, bytes.
    pub tensors: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
}

impl Draft {
    /// Reads a folder with one weights file.
    pub fn read(folder: &Path) -> Draft {
        let bytes = fs::read(folder.join("model.safetensors")).expect("weights");
        let tensors = SafeTensors::deserialize(&bytes).expect("a safetensors file");
        let config = fs::read_to_string(folder.join("config.json")).expect("a configuration");
        Draft {
            config: serde_json::from_str(&config).expect("JSON"),
            tensors: tensors
                .tensors()
                .into_iter()
                .map(|(name, view)| (name, (view.dtype(), view.shape().to_vec(), view.data().to_vec())))
                .collect(),
        }
    }

    /// Writes a folder with one weights file.
    pub fn write(&self, folder: &Path) {
        self.write_shards(folder, 1);
    }

    /// Writes a folder with `shards` weights files and an index.
    pub fn write_shards(&self, folder: &Path, shards: usize) {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join("config.json"), self.config.to_string()).expect("a configuration");
        if shards == 1 {
            return write(self.tensors.iter(), &folder.join("model.safetensors"));
        }
        let mut map = serde_json::Map::new();
        for shard in 0..shards {
            let file = format!("model-{:05}-of-{shards:05}.safetensors", shard + 1);
            let part = self.tensors.iter().enumerate().filter(|(index, _)| index % shards == shard);
            let part: Vec<_> = part.map(|(_, entry)| entry).collect();
            part.iter().for_each(|(name, _)| {
                map.insert((*name).clone(), Value::from(file.clone()));
            });
            write(part.into_iter(), &folder.join(file));
        }
        let index = serde_json::json!({ "metadata": {}, "weight_map": map });
        fs::write(folder.join("model.safetensors.index.json"), index.to_string()).expect("an index");
    }
}

type Entry<'a> = (&'a String, &'a (Dtype, Vec<usize>, Vec<u8>));

fn write<'a>(entries: impl Iterator<Item = Entry<'a>>, file: &Path) {
    let views = entries.map(|(name, (dtype, shape, bytes))| {
        (name.clone(), TensorView::new(*dtype, shape.clone(), bytes).expect("a tensor"))
    });
    safetensors::serialize_to_file(views, None, file).expect("a weights file");
}

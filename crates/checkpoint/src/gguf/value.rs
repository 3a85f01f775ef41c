//! The metadata of a GGUF file: typed values by key. Short ones become JSON, long lists keep their own type.

use std::io::Read;

use serde_json::{Map, Value};
use units::limits::LAYERS_MAX;

use super::{metadata::GgufMetadata, reader::Reader};
use crate::Error;

/// Lists that belong to the tokenizer and stand apart whatever their length.
const APART: [&str; 4] =
    ["tokenizer.ggml.tokens", "tokenizer.ggml.merges", "tokenizer.ggml.scores", "tokenizer.ggml.token_type"];
/// A longer list says nothing about single layers, so it is no configuration.
const SHORT_MAX: u64 = LAYERS_MAX as u64;
/// List elements of one file that may become JSON, which is many times larger than the file's own form.
const JSON_ELEMENTS_MAX: u64 = 1 << 20;
/// Lists inside lists; published files have none.
const DEPTH_MAX: usize = 4;
/// Bytes of a key, by the format's description.
const KEY_BYTES_MAX: usize = 65_535;

const STRING: u32 = 8;
const ARRAY: u32 = 9;
const F32: u32 = 6;

/// Reads `count` entries.
pub fn entries<R: Read>(
    reader: &mut Reader<R>,
    count: u64,
) -> Result<(Map<String, Value>, GgufMetadata), Error> {
    /// Length of the key, type, one byte of value.
    const LEAST_BYTES: u64 = 8 + 4 + 1;
    reader.expect_room(count, LEAST_BYTES)?;
    let mut values = Map::new();
    let mut lists = GgufMetadata::default();
    let mut budget = JSON_ELEMENTS_MAX;
    for at in 0..count {
        let key = reader.string(&format!("metadata key {at}"))?;
        if key.len() > KEY_BYTES_MAX {
            let needed = format!("metadata keys of at most {KEY_BYTES_MAX} bytes");
            return Err(reader.error(needed, key.len().to_string()));
        }
        if values.contains_key(&key) || lists.contains(&key) {
            return Err(reader.error("every metadata key once", format!("`{key}` again")));
        }
        match reader.u32()? {
            ARRAY => {
                let (element, count) = list_head(reader, &key)?;
                if element != ARRAY && (count > SHORT_MAX || APART.contains(&key.as_str())) {
                    long_list(reader, &mut budget, key, element, count, &mut values, &mut lists)?;
                } else {
                    let list = list(reader, &mut budget, &key, element, count, 1)?;
                    values.insert(key, list);
                }
            }
            kind => {
                let value = scalar(reader, &key, kind)?;
                values.insert(key, value);
            }
        }
    }
    Ok((values, lists))
}

/// Element type and length of a list, checked against what the file can still hold.
fn list_head<R: Read>(reader: &mut Reader<R>, key: &str) -> Result<(u32, u64), Error> {
    let (element, count) = (reader.u32()?, reader.u64()?);
    let least_bytes = match element {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        STRING | 10..=12 => 8,
        ARRAY => 12,
        other => return Err(unknown(reader, key, other)),
    };
    reader.expect_room(count, least_bytes)?;
    Ok((element, count))
}

fn unknown<R: Read>(reader: &Reader<R>, key: &str, kind: u32) -> Error {
    reader.error(format!("a value type from 0 to 12 for `{key}`"), kind.to_string())
}

/// A single value. A float that JSON cannot hold (infinite, not a number) becomes `null`, which counts as absent.
fn scalar<R: Read>(reader: &mut Reader<R>, key: &str, kind: u32) -> Result<Value, Error> {
    Ok(match kind {
        0 => u8::from_le_bytes(reader.array()?).into(),
        1 => i8::from_le_bytes(reader.array()?).into(),
        2 => u16::from_le_bytes(reader.array()?).into(),
        3 => i16::from_le_bytes(reader.array()?).into(),
        4 => reader.u32()?.into(),
        5 => i32::from_le_bytes(reader.array()?).into(),
        // Widening is exact, so narrowing again gives the very value in the file.
        F32 => f64::from(f32::from_le_bytes(reader.array()?)).into(),
        7 => match reader.array::<1>()? {
            [0] => false.into(),
            [1] => true.into(),
            [other] => return Err(reader.error(format!("0 or 1 as truth value `{key}`"), other.to_string())),
        },
        STRING => reader.string(&format!("the value of `{key}`"))?.into(),
        10 => reader.u64()?.into(),
        11 => i64::from_le_bytes(reader.array()?).into(),
        12 => f64::from_le_bytes(reader.array()?).into(),
        other => return Err(unknown(reader, key, other)),
    })
}

fn list<R: Read>(
    reader: &mut Reader<R>,
    budget: &mut u64,
    key: &str,
    element: u32,
    count: u64,
    depth: usize,
) -> Result<Value, Error> {
    if depth > DEPTH_MAX {
        return Err(reader.error(format!("at most {DEPTH_MAX} lists inside each other in `{key}`"), "more"));
    }
    spend(reader, budget, key, count)?;
    let mut values = Vec::with_capacity(count as usize);
    for _ in 0..count {
        values.push(if element == ARRAY {
            let (element, count) = list_head(reader, key)?;
            list(reader, budget, key, element, count, depth + 1)?
        } else {
            scalar(reader, key, element)?
        });
    }
    Ok(Value::Array(values))
}

fn spend<R: Read>(reader: &Reader<R>, budget: &mut u64, key: &str, count: u64) -> Result<(), Error> {
    *budget = budget.checked_sub(count).ok_or_else(|| {
        let needed = format!("at most {JSON_ELEMENTS_MAX} elements in lists of this kind, up to `{key}`");
        reader.error(needed, format!("{count} more"))
    })?;
    Ok(())
}

fn long_list<R: Read>(
    reader: &mut Reader<R>,
    budget: &mut u64,
    key: String,
    element: u32,
    count: u64,
    values: &mut Map<String, Value>,
    lists: &mut GgufMetadata,
) -> Result<(), Error> {
    match element {
        STRING => {
            let what = format!("an element of `{key}`");
            let strings = (0..count).map(|_| reader.string(&what)).collect::<Result<_, _>>()?;
            lists.strings.insert(key, strings);
        }
        F32 => {
            let floats =
                (0..count).map(|_| reader.array().map(f32::from_le_bytes)).collect::<Result<_, _>>()?;
            lists.f32s.insert(key, floats);
        }
        0..=5 => {
            let mut numbers = Vec::new();
            for _ in 0..count {
                let wide = scalar(reader, &key, element)?.as_i64().unwrap_or(i64::MAX);
                let number = i32::try_from(wide)
                    .map_err(|_| reader.error(format!("numbers below 2^31 in `{key}`"), wide.to_string()))?;
                numbers.push(number);
            }
            lists.i32s.insert(key, numbers);
        }
        _ => {
            let list = list(reader, budget, &key, element, count, 1)?;
            values.insert(key, list);
        }
    }
    Ok(())
}

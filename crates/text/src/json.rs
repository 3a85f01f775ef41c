//! JSON as Python's `json.dumps` writes it, which templates rely on to the byte.

use serde_json::Value;

/// `value` with the separators `", "` and `": "`, keys in their own order, non-ASCII as it is; over several lines where
/// `indent` says by how many spaces.
pub fn dumps(value: &Value, indent: Option<usize>) -> String {
    let mut out = String::new();
    write(&mut out, value, indent, 0);
    out
}

fn write(out: &mut String, value: &Value, indent: Option<usize>, depth: usize) {
    match value {
        Value::Array(values) => {
            let items = values.iter().map(|value| (None, value)).collect::<Vec<_>>();
            list(out, ('[', ']'), &items, indent, depth);
        }
        Value::Object(fields) => {
            let items = fields.iter().map(|(key, value)| (Some(key.as_str()), value)).collect::<Vec<_>>();
            list(out, ('{', '}'), &items, indent, depth);
        }
        Value::String(text) => string(out, text),
        Value::Number(number) if number.is_f64() => out.push_str(&float(number.as_f64().unwrap_or(0.0))),
        other => out.push_str(&other.to_string()),
    }
}

fn list(
    out: &mut String,
    (open, close): (char, char),
    items: &[(Option<&str>, &Value)],
    indent: Option<usize>,
    depth: usize,
) {
    let line = |out: &mut String, depth: usize| {
        if let Some(width) = indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', width * depth));
        }
    };
    out.push(open);
    for (at, (key, value)) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(if indent.is_some() { "," } else { ", " });
        }
        line(out, depth + 1);
        if let Some(key) = key {
            string(out, key);
            out.push_str(": ");
        }
        write(out, value, indent, depth + 1);
    }
    if !items.is_empty() {
        line(out, depth);
    }
    out.push(close);
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            control if (control as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// The shortest digits that read back, with an exponent where Python has one.
fn float(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || (1e-4..1e16).contains(&size) {
        return format!("{number:?}");
    }
    let text = format!("{number:e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn writes_as_python_does() {
        // Right-hand sides: json.dumps(value, ensure_ascii=False, indent=…) of Python 3.
        for (value, indent, text) in [
            (
                json!({"b": [1, 2.0, true, null], "a": "é<&'\"\u{1}\u{7f}\n"}),
                None,
                "{\"b\": [1, 2.0, true, null], \"a\": \"é<&'\\\"\\u0001\u{7f}\\n\"}",
            ),
            (
                json!({"a": [], "b": {}, "c": [1, {"d": 2}]}),
                Some(2),
                "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": 2\n    }\n  ]\n}",
            ),
            (
                json!([1e16, 1e-5, 0.1, -1.5e300, 123456789.5]),
                None,
                "[1e+16, 1e-05, 0.1, -1.5e+300, 123456789.5]",
            ),
        ] {
            assert_eq!(dumps(&value, indent), text);
        }
    }
}

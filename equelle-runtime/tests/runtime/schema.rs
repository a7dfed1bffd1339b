//! A validator of the part of JSON Schema that the schema of events uses.

use serde_json::Value;

/// The schema of events in the book.
pub fn event_schema() -> Value {
    serde_json::from_str(include_str!("../../../docs/book/src/events.schema.json")).expect("the schema is JSON")
}

/// The names of events that a schema has.
pub fn events(schema: &Value) -> Vec<String> {
    let name = |of: &Value| of["$ref"].as_str().expect("a reference").trim_start_matches("#/$defs/").to_owned();
    schema["oneOf"].as_array().expect("alternatives").iter().map(name).collect()
}

/// Checks a value.
///
/// # Errors
/// The place in the value, and what is wrong there.
pub fn validate(root: &Value, value: &Value) -> Result<(), String> {
    check(root, root, value, "")
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    for (keyword, wanted) in schema.as_object().expect("a schema is an object") {
        let holds = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let pointer = wanted.as_str().expect("a pointer").trim_start_matches('#');
                check(root, root.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}")), value, at)?;
                true
            }
            "oneOf" => {
                let results: Vec<_> = items(wanted).iter().map(|one| check(root, one, value, at)).collect();
                let matches = results.iter().filter(|result| result.is_ok()).count();
                if matches == 0 {
                    // The alternative of that name tells most.
                    let index =
                        items(wanted).iter().position(|one| one["$ref"] == format!("#/$defs/{}", value["event"].as_str().unwrap_or("")));
                    return index.map_or_else(|| Err(format!("{at}: no alternative")), |index| results[index].clone());
                }
                matches == 1
            }
            "type" => match wanted {
                Value::Array(any) => any.iter().any(|one| is_a(value, one)),
                one => is_a(value, one),
            },
            "const" => value == wanted,
            "enum" => items(wanted).contains(value),
            "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().expect("a number")),
            "required" => items(wanted).iter().all(|key| value.get(key.as_str().expect("a key")).is_some()),
            "properties" => {
                for (key, of) in wanted.as_object().expect("an object") {
                    if let Some(member) = value.get(key) {
                        check(root, of, member, &format!("{at}/{key}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = |key: &String| schema.get("properties").is_some_and(|known| known.get(key).is_some());
                let others = value.as_object().into_iter().flatten().filter(|(key, _)| !known(key));
                for (key, member) in others {
                    match wanted {
                        Value::Bool(false) => return Err(format!("{at}/{key} is not in the schema")),
                        of => check(root, of, member, &format!("{at}/{key}"))?,
                    }
                }
                true
            }
            "items" => {
                for (index, element) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, wanted, element, &format!("{at}/{index}"))?;
                }
                true
            }
            other => panic!("the validator does not know `{other}`"),
        };
        if !holds {
            return Err(format!("{at}: {value} is against `{keyword}`: {wanted}"));
        }
    }
    Ok(())
}

fn items(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array")
}

fn is_a(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("the validator does not know type `{other}`"),
    }
}

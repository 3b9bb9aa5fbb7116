//! `steps`: the options of a call whose order counts.

use climax::call::arguments::{Input, bind};
use climax::catalog::{Layer, ToolIndex};
use serde_json::{Value, json};

use crate::command_lines::programs;
use crate::lines::read_words;

fn violations(arguments: &Value) -> Vec<String> {
    let index = programs();
    let bound = bind(index.get("convert").unwrap(), arguments.as_object().unwrap());
    bound.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn with_steps(steps: &Value) -> Value {
    json!({ "input": "a.png", "output": "b.png", "steps": steps })
}

#[test]
fn steps_are_published_as_a_list_of_objects_with_one_key() {
    let index = programs();
    let schema: Value = serde_json::from_str(index.get("convert").unwrap().input_schema()).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["input", "output", "steps"]);
    assert_eq!(properties["steps"]["items"]["properties"]["rotate"]["type"], "number");
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&with_steps(&json!([{ "rotate": 1 }, { "resize": "1%" }]))));
    assert!(!validator.is_valid(&with_steps(&json!([{ "rotate": 1, "resize": "1%" }]))));
}

#[test]
fn steps_are_checked_as_all_arguments_are() {
    for (steps, expected) in [
        (json!([{ "rotate": "x" }]), "Argument 'steps[0].rotate': cannot convert 'x' to number"),
        (json!([{ "rotate": 1 }, { "rotat": 1 }]), "Argument 'steps[1].rotat' must be one of: rotate"),
        (json!([{ "input": "x" }]), "Argument 'steps[0].input' must be one of: resize, rotate"),
        (json!([{ "rotate": 1, "resize": "1%" }]), "Argument 'steps[0]': cannot convert"),
        (json!(["rotate"]), "Argument 'steps[0]': cannot convert 'rotate' to an object with one key"),
        (json!([{ "resize": "a\0b" }]), "Argument 'steps[0].resize': value contains a NUL character"),
        (json!(vec![json!({ "rotate": 1 }); 1001]), "Argument 'steps': 1001 items, the most is 1000"),
    ] {
        let found = violations(&with_steps(&steps));
        assert!(found.len() == 1 && found[0].starts_with(expected), "{steps}: {found:?}");
    }
    let beside = violations(&json!({ "input": "a", "output": "b", "rotate": 90 }));
    assert_eq!(
        beside,
        [r#"Argument 'rotate' belongs into 'steps', since its order counts: {"steps": [{"rotate": …}]}"#]
    );
    for steps in
        [json!(null), json!([]), json!({ "rotate": 1 }), json!(r#"[{"rotate": 1}]"#), json!([{ "rotate": null }])]
    {
        assert_eq!(violations(&with_steps(&steps)), Vec::<String>::new(), "{steps}");
    }
}

#[test]
fn order_of_a_line_is_that_of_its_plan() {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    for line in [
        "find . -name a -o -name b",
        "find a b ( -type f -o -type l ) -mtime -3 -print0",
        "find . -delete -name x",
        "find . -name x -delete",
        "find . -path ./t -prune -o -print",
        "find -L . -maxdepth 2 -name x",
        "find ! -name x",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let reading = read_words(&index, &words).unwrap_or_else(|unread| panic!("{line}: {}", unread.problem));
        let bound = reading.bind(Input::Nothing).unwrap();
        assert_eq!(reading.plan(&bound, &|_| None, &|_, _| None).argv, words, "{line}");
    }
    let programs = programs();
    for line in ["convert -resize 1% a b", "convert a -resize 1% b -rotate 90", "convert a -resize 1% -rotate 90 b"] {
        let words: Vec<&str> = line.split(' ').collect();
        let reading = read_words(&programs, &words).unwrap_or_else(|unread| panic!("{line}: {}", unread.problem));
        let bound = reading.bind(Input::Nothing).unwrap();
        assert_eq!(reading.plan(&bound, &|_| None, &|_, _| None).argv, words);
    }
}

//! The policies of `examples/policies`: what each permits and refuses, for calls and for command lines.

use std::fs;
use std::path::Path;
use std::process::Command;

use climax::call::arguments::{bind, check};
use climax::call::{LineBounds, LineInput, PolicyVerdict, Purpose, Request, Session, Toolbox, command_line};
use climax::catalog::policy::read;
use climax::catalog::{Layer, Source, ToolIndex};
use serde_json::{Value, json};

use crate::client::restricted;
use crate::support::{catalog, climax, fake_config, index, run};

/// What the fuzz targets start from. It is checked here, because their own workspace takes minutes to build.
#[path = "../../fuzz/src/fixtures.rs"]
#[expect(unreachable_pub, reason = "they are public in the package of the fuzz targets")]
mod fixtures;

/// Returns the text of an example.
fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/policies").join(name).with_extension("yaml");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The compiled-in tools under a policy.
fn under(policy: &str) -> Toolbox {
    restricted(ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]), policy)
}

fn verdict(toolbox: &Toolbox, line: &str) -> PolicyVerdict {
    let request =
        Request::Line { text: line, directory: None, input: LineInput::Nothing, bounds: LineBounds::default() };
    toolbox.verdict(request, Session::anonymous(Purpose::Call))
}

fn permits(toolbox: &Toolbox, lines: &[&str]) {
    for line in lines {
        assert_eq!(verdict(toolbox, line), PolicyVerdict::Permitted, "{line}");
    }
}

fn refuses(toolbox: &Toolbox, lines: &[&str]) {
    for line in lines {
        let found = verdict(toolbox, line);
        assert!(matches!(found, PolicyVerdict::Refused(_)), "{line}: {found:?}");
    }
}

fn serves(toolbox: &Toolbox, served: &[&str], hidden: &[&str]) {
    for name in served {
        assert!(toolbox.index.get(name).is_some(), "{name} is hidden");
    }
    for name in hidden {
        assert!(toolbox.index.get(name).is_none(), "{name} is served");
    }
}

/// Returns the command line of a call, or the violations.
fn planned(toolbox: &Toolbox, tool: &str, arguments: Value) -> Result<Vec<String>, Vec<String>> {
    let tool = toolbox.index.get(tool).unwrap_or_else(|| panic!("{tool} is hidden"));
    let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
    let texts = |violations: Vec<_>| violations.iter().map(ToString::to_string).collect::<Vec<String>>();
    let bound = bind(tool, &arguments).map_err(texts)?;
    check(&bound).map_err(texts)?;
    Ok(command_line::plan(tool, &bound, &|_| None).argv)
}

fn git(directory: &Path, words: &[&str]) {
    let settings = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
    let done = Command::new("git").args(settings).args(words).current_dir(directory).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn git_reads_in_one_directory_alone() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let project = root.join("project");
    for repository in [&root, &project] {
        fs::create_dir_all(repository).unwrap();
        git(repository, &["init", "-q"]);
        git(repository, &["commit", "-q", "--allow-empty", "-m", repository.file_name().unwrap().to_str().unwrap()]);
    }
    let other = root.join("other");
    fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(&other, project.join("link")).unwrap();
    let policy = example("git-read-one-directory").replace("/srv/project", project.to_str().unwrap());
    let policy = policy.replace("/srv", root.to_str().unwrap());
    fs::write(root.join("policy.yaml"), policy).unwrap();
    let line = |from: &Path, line: &str| {
        let (status, out, errors) =
            run(climax().current_dir(from).args(["sh", "-c", line, "--policy"]).arg(root.join("policy.yaml")));
        (status, out + &errors)
    };
    let (status, said) = line(&project, "git log --format=%s");
    assert_eq!((status, said.trim()), (0, "project"));
    let inside = format!("git -C {} log --format=%s", project.display());
    assert_eq!(line(&other, &inside).0, 0);
    for outside in [
        "git log",
        "git -C ../project/.. log",
        "git -C ../project/link log",
        "cd ../project && git -C .. log",
        "git -C ~ log",
        "git -C ../project blame --contents ../policy.yaml x",
        "git -C ../project commit --allow-empty -m x",
        "git -C ../project --git-dir=../.git log",
    ] {
        let (status, said) = line(&other, outside);
        assert!([2, 126, 127].contains(&status), "{outside}: {status} {said}");
    }
    // Without a repository of its own, no repository above it is found.
    fs::remove_dir_all(project.join(".git")).unwrap();
    let (status, said) = line(&project, "git log --format=%s");
    assert!(status == 128 && said.contains("not a git repository"), "{status} {said}");
}

#[test]
fn gh_neither_merges_nor_deletes() {
    let toolbox = under(&example("gh-without-merge-and-delete"));
    serves(
        &toolbox,
        &["gh_pr_list", "gh_pr_create", "gh_issue_comment", "gh_api_get"],
        &[
            "gh_pr_merge",
            "gh_repo_delete",
            "gh_issue_delete",
            "gh_api",
            "gh_secret_set",
            "gh_extension_exec",
            "gh_alias_set",
        ],
    );
    refuses(
        &toolbox,
        &["gh pr merge 3", "gh repo delete o/r", "gh api -X DELETE /repos/o/r", "gh pr close 3 --delete-branch"],
    );
    assert_eq!(verdict(&toolbox, "gh pr close 3"), PolicyVerdict::NeedsApproval);
    permits(&toolbox, &["gh pr list", "gh issue view 3"]);
}

#[test]
fn kubectl_stays_in_two_namespaces() {
    let toolbox = under(&example("kubectl-two-namespaces"));
    permits(&toolbox, &["kubectl get pods -n shop", "kubectl logs web-0 --namespace=shop-test"]);
    refuses(
        &toolbox,
        &[
            "kubectl get pods",
            "kubectl get pods -n kube-system",
            "kubectl get pods -A",
            "kubectl get secrets -n shop",
            "kubectl get nodes -n shop",
            "kubectl get -n shop -f pod.yaml",
            "kubectl get -n shop --raw /api",
            "kubectl --context other get pods -n shop",
            "kubectl logs web-0 -n shop --kubeconfig=k",
            "kubectl delete pod web-0 -n shop",
        ],
    );
    assert_eq!(
        planned(&toolbox, "kubectl_get", json!({ "resource": "pods" })).unwrap_err(),
        ["Missing required argument 'namespace'"]
    );
    serves(&toolbox, &[], &["kubectl_top_nodes", "kubectl_exec", "kubectl_cluster_info_dump"]);
}

#[test]
fn docker_gets_no_rights_on_the_host() {
    let toolbox = under(&example("docker-without-host"));
    let run = |arguments| planned(&toolbox, "docker_run", arguments);
    assert!(run(json!({ "image": "alpine", "volume": ["data:/data", "data-2:/x:ro"], "network": ["none"] })).is_ok());
    for volume in ["/:/host", "/etc:/x:ro", "./a:/x", "../a:/x", "~/a:/x", ".:/x", "$HOME:/x", "data:/x:rw,z"] {
        assert!(run(json!({ "image": "alpine", "volume": [volume] })).is_err(), "{volume}");
    }
    assert!(run(json!({ "image": "alpine", "network": ["host"] })).is_err());
    let hidden = [
        "privileged",
        "mount",
        "device",
        "cap_add",
        "security_opt",
        "pid",
        "ipc",
        "userns",
        "volumes_from",
        "env_file",
    ];
    let tool = toolbox.index.get("docker_run").unwrap();
    assert!(tool.args().all(|arg| !hidden.contains(&arg.name())));
    permits(&toolbox, &["docker ps"]);
    refuses(
        &toolbox,
        &[
            "docker run --privileged alpine",
            "docker run -v /:/host alpine",
            "docker run -v/:/host alpine",
            "docker run --volume=/:/host alpine",
            "docker run --mount type=bind,src=/,dst=/x alpine",
            "docker run --pid=host alpine",
            "docker run --net=host alpine",
            "docker exec --privileged web sh",
            "docker --context other ps",
            "docker service create --mount type=bind,src=/,dst=/x alpine",
            "docker volume create -o device=/ -o o=bind -o type=none evil",
        ],
    );
}

#[test]
fn everything_but_destructive_is_permitted() {
    let toolbox = under(&example("everything-but-destructive"));
    let all = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    for tool in all.tools() {
        let is_destructive = tool.written_risk() == Some(climax::catalog::Risk::Destructive);
        assert_eq!(toolbox.index.get(tool.name()).is_none(), is_destructive, "{}", tool.name());
    }
    // A command that another one starts is refused by its own tool.
    let alone = toolbox.index.tools().filter(|tool| tool.started_command().is_none());
    let highest = alone.map(climax::catalog::ResolvedTool::promised_risk).max();
    assert_eq!(highest, Some(climax::catalog::Risk::Write));
    permits(&toolbox, &["git add .", "git push"]);
    refuses(&toolbox, &["git push --force", "rm x", "timeout 5 rm x", "git reset --hard", "gh repo delete o/r"]);
}

#[test]
fn a_team_gets_the_tools_of_its_configs() {
    let config =
        |tags: &str, tools: &str| fake_config(tools).replacen("name: fake\n", &format!("name: fake\n{tags}"), 1);
    let tools = "  - {name: pay_list, description: Lists, command: argv, risk: read}\n  \
                 - {name: pay_void, description: Voids, command: argv, risk: destructive}\n";
    let names = |yaml: &str| {
        let toolbox = restricted(index(yaml), &example("tools-of-one-team"));
        toolbox.index.tools().map(|tool| tool.name().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&config("tags: [billing, payments]\n", tools)), ["pay_list"]);
    assert!(names(&config("tags: [payments-old]\n", tools)).is_empty());
    assert!(names(&config("", tools)).is_empty());
}

#[test]
fn only_pushes_to_main_are_asked_about() {
    let toolbox = under(&example("git-ask-before-pushing-main"));
    permits(&toolbox, &["git push origin topic", "git push origin topic/main other", "git commit -m x", "git log"]);
    for line in [
        "git push origin main",
        "git push origin topic main",
        "git push -u origin heads/main",
        "git push origin refs/heads/main",
        "git add . && git push origin main",
    ] {
        assert_eq!(verdict(&toolbox, line), PolicyVerdict::NeedsApproval, "{line}");
    }
    refuses(
        &toolbox,
        &[
            "git push",
            "git push origin",
            "git push origin HEAD",
            "git push origin @",
            "git push origin topic:main",
            "git push origin +main",
            "git push origin 'refs/heads/*'",
            "git push --all origin topic",
            "git push --force origin topic",
            "git push --repo=elsewhere origin topic",
            "git push elsewhere topic",
            "git push https://example.com/x topic",
        ],
    );
}

#[test]
fn aws_has_one_region_and_one_account() {
    let toolbox = under(&example("aws-one-account"));
    let line = planned(&toolbox, "aws_s3_ls", json!({})).unwrap();
    assert!(line.ends_with(&["--region=eu-west-1".to_owned(), "--profile=staging-reader".to_owned()]), "{line:?}");
    for tool in toolbox.index.tools() {
        let schema = tool.input_schema();
        assert!(!schema.contains("\"profile\"") && !schema.contains("\"region\""), "{}", tool.name());
        assert!(["profile", "region"].iter().all(|name| tool.args().any(|arg| arg.name() == *name)), "{}", tool.name());
    }
    permits(&toolbox, &["aws s3 ls", "aws s3 ls --region eu-west-1"]);
    refuses(
        &toolbox,
        &[
            "aws s3 ls --region us-east-1",
            "aws s3 ls --profile=admin",
            "aws configure list-profiles",
            "aws s3 rm s3://b/x",
        ],
    );
    let said = planned(&toolbox, "aws_s3_ls", json!({ "profile": "admin" })).unwrap_err();
    assert_eq!(said, ["Argument 'profile': the policy sets its value, so leave it out"]);
}

#[test]
fn npm_neither_publishes_nor_runs_scripts() {
    let toolbox = under(&example("npm-without-publish-and-scripts"));
    for tool in ["npm_install", "npm_ci", "npm_update"] {
        assert!(planned(&toolbox, tool, json!({})).unwrap().contains(&"--ignore-scripts".to_owned()), "{tool}");
    }
    assert!(planned(&toolbox, "npm_install", json!({ "ignore_scripts": false })).is_err());
    permits(&toolbox, &["npm ls", "npm view left-pad"]);
    assert_eq!(verdict(&toolbox, "npm install left-pad"), PolicyVerdict::NeedsApproval);
    refuses(
        &toolbox,
        &[
            "npm publish",
            "npm unpublish x",
            "npm run build",
            "npm test",
            "npm exec x",
            "npx x",
            "npm rebuild",
            "npm config set ignore-scripts false",
            "npm install --ignore-scripts=false left-pad",
        ],
    );
}

#[test]
fn curl_reaches_two_hosts() {
    let toolbox = under(&example("curl-two-hosts"));
    let get = |url: &str| planned(&toolbox, "curl_get", json!({ "url": url }));
    for url in ["https://api.example.com", "https://docs.example.com/a?b=c#d"] {
        let line = get(url).unwrap();
        assert!(!line.contains(&"--location".to_owned()) && !line.contains(&"--insecure".to_owned()), "{line:?}");
    }
    for url in [
        "http://api.example.com/",
        "https://example.com/",
        "https://evil.example/",
        "https://api.example.com@evil.example/",
        "https://api.example.com.evil.example/",
        "https://api.example.com:8443/",
        "https://api.example.com\\@evil.example/",
        "https://{api.example.com,evil.example}/",
        "https://api.example.com/ https://evil.example/",
        "file:///etc/passwd",
    ] {
        assert!(get(url).is_err(), "{url}");
    }
    assert!(
        planned(&toolbox, "curl_get", json!({ "url": "https://api.example.com", "follow_redirects": true })).is_err()
    );
    serves(
        &toolbox,
        &["curl_head", "curl_post_json"],
        &["curl_run", "curl_download", "curl_upload_file", "curl_delete"],
    );
}

#[test]
fn every_example_is_valid_and_tested() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/policies");
    let tests = include_str!("policies.rs");
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(tests.contains(&format!("\"{name}\"")), "no test for {name}");
        // Its label is in configs of its own.
        if name != "tools-of-one-team" {
            let (status, _, said) = run(climax().args(["validate", "--strict", "--policy"]).arg(&path));
            assert_eq!(status, 0, "{name}: {said}");
        }
    }
}

#[test]
fn fuzz_targets_start_from_valid_files() {
    let policy = |text: &str| read(&Source::new("policy.yaml", text.as_bytes().to_vec()).unwrap()).unwrap();

    let applied = policy(fixtures::RULES).apply(index(fixtures::CALLED), &|_| false).unwrap();
    assert!(applied.index.tools().next().is_some());

    let compiled_in = policy(fixtures::COMPILED_IN).compile_in(catalog(fixtures::RESTRICTED));
    assert!(compiled_in.is_ok(), "{:?}", compiled_in.err());
}

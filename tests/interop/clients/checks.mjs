// What every client is put to, whichever library it is made with. `checks.py` says the same to those in Python.
//
// A client has `revision()`, `tools()`, `call(tool, arguments, {onprogress, signal})` → {text, isError, structured},
// `refusal(error)` → [code, message] of a protocol error, `read(uri)` → text of a resource, `prompt(name, arguments)` → text
// of a prompt's first message, and `user`.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 20_000;
const GREETING = "grüße, 世界 🎉";

/** Answers what the server asks. */
export class User {
  action = "accept";
  questions = [];
  knows = { name: "Ada", color: "blue" };

  answer({ message, requestedSchema }) {
    this.questions.push(message);
    if (this.action !== "accept") return { action: this.action };
    const fields = Object.keys(requestedSchema.properties ?? {});
    return { action: "accept", content: Object.fromEntries(fields.map((name) => [name, this.knows[name]])) };
  }
}

const called = (tool, args = {}) => ["climax_call", { tool_name: tool, args }];

async function agrees(client) {
  assert.equal(client.revision(), mode === "legacy" ? "2025-11-25" : "2026-07-28");
}

async function lists(client) {
  assert.deepEqual(await client.tools(), ["climax_search", "climax_call"]);
}

async function searches(client) {
  const result = await client.call("climax_search", { query: "pause some times" });
  assert.equal(JSON.parse(result.text).results[0].tool_name, "test_tool_with_progress");
}

async function calls(client) {
  const { text, isError } = await client.call(...called("say", { text: GREETING }));
  assert.deepEqual([text, isError], [GREETING, false]);
}

async function fails(client) {
  const { text, isError } = await client.call(...called("test_error_handling"));
  assert.ok(isError, text);
  for (const what of [/\/dev\/null/, /No such file/, /exit[ _]code"?: ?2\b/]) assert.match(text, what);
}

async function structures(client) {
  const { error } = (await client.call(...called("test_error_handling"))).structured;
  const { exit_code, stdout, stderr } = error.details[0];
  assert.deepEqual([error.code, exit_code, stdout.trim()], ["command_failed", 2, "/dev/null"]);
  assert.match(stderr, /No such file/);
}

async function rejects(client) {
  for (const [args, complaint] of [[{}, /Missing required argument/], [{ seconds: "soon" }, /cannot convert 'soon' to number/]]) {
    const { text, isError } = await client.call(...called("rest", args));
    assert.ok(isError, text);
    assert.match(text, complaint);
  }
}

async function misses(client) {
  const { text, isError } = await client.call(...called("no_such_tool"));
  assert.ok(isError, text);
  assert.match(text, /Unknown tool: no_such_tool/);
}

async function is_refused(client) {
  const error = await client.call("no_such_tool", {}).then(
    (result) => assert.fail(`an unknown tool was answered: ${JSON.stringify(result)}`),
    (error) => error,
  );
  assert.deepEqual(client.refusal(error), [-32602, "Unknown tool: no_such_tool"]);
}

async function is_asked(client) {
  client.user.action = "accept";
  const approved = await client.call(...called("test_elicitation", { message: "hello" }));
  assert.equal(approved.text, "hello");
  assert.match(client.user.questions.at(-1), /echo hello/);
  client.user.action = "decline";
  const { text, isError } = await client.call(...called("test_elicitation", { message: "hello" }));
  assert.deepEqual([text, isError], ["Tool execution denied by user: test_elicitation", true]);
  assert.equal(client.user.questions.length, 2);
}

async function fills_in(client) {
  client.user.action = "accept";
  const before = client.user.questions.length;
  const { text } = await client.call(...called("test_input_required_result_multi_round", { name: "Eve" }));
  const ignored = "[ignored: 'name' is no argument of test_input_required_result_multi_round]";
  assert.equal(text, `Ada likes blue.\n\n${ignored}`);
  assert.equal(client.user.questions.length - before, 2);
}

async function reads(client) {
  assert.equal(await client.read("test://template/a%20b/data"), '{"id":"a b"}');
}

async function is_prompted(client) {
  const text = await client.prompt("test_prompt_with_arguments", { arg1: "hello", arg2: GREETING });
  assert.equal(text, `Prompt with arguments: arg1='hello', arg2='${GREETING}'`);
}

async function sees_progress(client) {
  const seen = [];
  await client.call(...called("test_tool_with_progress"), { onprogress: (progress) => seen.push(progress) });
  const told = JSON.stringify(seen);
  assert.ok(seen.length >= 3 && seen.every(({ progress }, at) => at === 0 || progress > seen[at - 1].progress), told);
  assert.ok(seen.some(({ message }) => message.includes("sleep 0.1")), told);
}

async function cancels(client) {
  const seconds = Number(`600.${process.pid}`);
  const control = new AbortController();
  let ended = false;
  const call = client.call(...called("rest", { seconds }), { signal: control.signal, timeout: 60_000 });
  const settled = call.then(() => "answered", () => "given up").finally(() => (ended = true));
  await until("the program runs", () => programs(seconds).length > 0 || ended);
  assert.ok(!ended, "the call has ended");
  control.abort();
  assert.equal(await settled, "given up");
  await until("the program is gone", () => programs(seconds).length === 0);
  await calls(client);
}

const CHECKS = [
  agrees, lists, searches, calls, fails, structures, rejects, misses,
  is_refused, is_asked, fills_in, reads, is_prompted, sees_progress, cancels,
];
// What a library shows to a model, through the tools that it makes for one.
export const AGENT_CHECKS = [agrees, lists, searches, calls, fails, rejects, misses];

/** Processes that sleep for so long. */
function programs(seconds) {
  return readdirSync("/proc").filter((name) => {
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return words[0] === "sleep" && words[1] === String(seconds);
    } catch {
      return false;
    }
  });
}

async function until(what, condition) {
  const end = Date.now() + PATIENCE_MS;
  while (!condition()) {
    assert.ok(Date.now() < end, `waited ${PATIENCE_MS} ms until ${what}`);
    await sleep(10);
  }
}

/** Runs checks, with a line of output each; the process ends with status 1 if one fails. */
export async function run(client, wanted = CHECKS) {
  for (const check of wanted) {
    const late = new AbortController();
    const limit = sleep(2 * PATIENCE_MS, null, { signal: late.signal }).then(() => assert.fail("it takes too long"));
    try {
      await Promise.race([check(client), limit]);
      console.log(`ok ${check.name}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`not ok ${check.name}: ${String(error.message).replaceAll("\n", " ")}`);
    } finally {
      limit.catch(() => {});
      late.abort();
    }
  }
}

/** The era of the protocol, as the libraries name it. */
export const mode = process.argv[2];

/** What to connect to: an address, or a command with its environment. */
export const url = process.argv[3].startsWith("http://") ? new URL(process.argv[3]) : undefined;
export const command = {
  command: process.argv[3],
  args: process.argv.slice(4),
  env: { PATH: process.env.PATH, CLIMAX_TAG: process.env.INTEROP_TAG },
};

// What a program of `climax_code` finds in its world. The guest evaluates this once, before the program.
//
// The value is a function of `send`, which writes a message, of the time in milliseconds, and of a seed. It returns what the
// guest calls: `evaluated` with the promise of the program, and `receive` with each answer.
(function (send, startMillis, seed) {
    "use strict";
    const { parse, stringify } = JSON;
    const { defineProperty, getOwnPropertyNames } = Object;
    const MAX_PIECE = 1 << 20;
    const MAX_REQUEST = 8 << 20;
    const WORLD = "there are tools.NAME(args), run(line), search(query), describe(name), console.log and JavaScript's own objects";
    const LANGUAGE = "write JavaScript, without types, import and export";
    let nowMillis = startMillis;
    let calls = 0;
    const waiting = new Map();

    // Nothing here may differ when the program is run again: the time is that of the last answer, random numbers are seeded.
    const RealDate = Date;
    const date = new Proxy(RealDate, {
        apply: () => new RealDate(nowMillis).toString(),
        construct: (target, given, made) => Reflect.construct(target, given.length > 0 ? given : [nowMillis], made),
    });
    defineProperty(RealDate, "now", { value: () => nowMillis });
    defineProperty(RealDate.prototype, "constructor", { value: date });
    defineProperty(globalThis, "Date", { value: date, writable: true, configurable: true });
    // The generator mulberry32.
    defineProperty(Math, "random", {
        value: () => {
            seed = (seed + 0x6d2b79f5) | 0;
            let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
            mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
            return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
        },
    });
    delete globalThis.performance;

    // Half of a character, as where a text is cut within an emoji, has an escape that no reader of JSON takes.
    const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;
    const encoded = (message) => {
        const text = stringify(message);
        return text.includes("\\ud") ? text.replace(ESCAPES, (escape, half) => (half ? "\ufffd" : escape)) : text;
    };

    const shown = (value, depth, path) => {
        if (typeof value === "string") return depth === 0 ? value : stringify(value);
        if (typeof value === "bigint") return `${value}n`;
        if (typeof value === "symbol" || typeof value === "function") return `[${typeof value}]`;
        if (typeof value !== "object" || value === null) return String(value);
        if (path.includes(value)) return "[circular]";
        if (depth > 8) return "[…]";
        const below = (inner) => shown(inner, depth + 1, [...path, value]);
        if (value instanceof Error) return `${value.name}: ${value.message}`;
        if (value instanceof RealDate) return stringify(value);
        if (value instanceof Map) return below(Object.fromEntries(value));
        if (value instanceof Set) return below([...value]);
        if (value instanceof Promise) return "[promise: write await before it]";
        if (Array.isArray(value)) return `[${value.map(below).join(",")}]`;
        const members = Object.keys(value).map((key) => {
            let inner;
            try {
                inner = value[key];
            } catch (error) {
                inner = `[error: ${error?.message}]`;
            }
            return inner === undefined ? "" : `${stringify(key)}:${below(inner)}`;
        });
        return `{${members.filter((member) => member !== "").join(",")}}`;
    };
    const text = (value) => {
        try {
            return shown(value, 0, []);
        } catch (error) {
            return `[a value that cannot be shown: ${error?.message}]`;
        }
    };
    const print = (...values) => {
        const line = values.map(text).join(" ") + "\n";
        for (let at = 0; at < line.length; ) {
            // A piece ends behind a whole character.
            const end = at + MAX_PIECE + (/^[\ud800-\udbff]$/.test(line[at + MAX_PIECE - 1]) ? 1 : 0);
            send(encoded({ print: line.slice(at, end) }));
            at = end;
        }
    };

    // The error of a failed call, whose place is that of the call.
    const failure = ({ message, ...rest }, stack) => {
        const error = Object.assign(new Error(message), rest);
        return defineProperty(error, "stack", { value: stack });
    };
    // Integers that a number cannot hold are strings, as in structured content.
    const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
    const isUnsafe = (token) => /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
    const parseExactly = (text) => {
        const value = parse(text);
        if (!/\d{16}/.test(text)) return value;
        return parse(text.replace(TOKENS, (token) => (isUnsafe(token) ? `"${token}"` : token)));
    };
    // The JSON of an output: one value, or one per line.
    const parsedOutput = (stdout) => {
        try {
            return parseExactly(stdout);
        } catch {}
        try {
            const lines = stdout.split("\n").filter((line) => line.trim() !== "");
            return lines.length > 0 ? lines.map((line) => parseExactly(line)) : undefined;
        } catch {}
        return undefined;
    };
    const result = (value) => {
        if (value === null || typeof value !== "object" || !("exit_code" in value)) return value;
        let parsed = false;
        let json;
        return defineProperty(value, "json", {
            get: () => {
                if (!parsed) {
                    json = parsedOutput(value.stdout);
                    parsed = true;
                }
                return json;
            },
            enumerable: false,
        });
    };

    const ask = (request, name) => {
        const id = calls++;
        let message;
        try {
            message = encoded({ id, ...request });
        } catch (error) {
            throw new TypeError(`the arguments of ${name} are not JSON: ${error.message}`);
        }
        if (message.length > MAX_REQUEST) throw new RangeError(`the arguments of ${name} take more than 8 MiB`);
        const { stack } = new Error();
        const promise = new Promise((resolve, reject) => waiting.set(id, { resolve, reject, stack }));
        send(message);
        const early = (member) => ({
            get() {
                throw new TypeError(`${name} returns a promise: write (await ${name}(…)).${member}`);
            },
        });
        for (const member of ["exit_code", "stdout", "stderr", "json", "length"]) {
            defineProperty(promise, member, early(member));
        }
        for (const member of [Symbol.toPrimitive, Symbol.iterator, "toJSON"]) {
            defineProperty(promise, member, {
                get() {
                    throw new TypeError(`${name} returns a promise: write await before ${name}(…)`);
                },
            });
        }
        return promise;
    };

    const globals = {
        tools: new Proxy(Object.freeze(Object.create(null)), {
            get: (_, name) => {
                // `await tools` and JSON.stringify(tools) look for these.
                if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
                return (args = {}) => ask({ tool: name, args }, `tools.${name}`);
            },
            ownKeys: () => {
                throw new TypeError("tools has no list: find tools by await search(query)");
            },
        }),
        run: (command, { cwd, stdin } = {}) => ask({ run: command, cwd, stdin }, "run"),
        search: (query, filter = {}) => ask({ search: { ...filter, query } }, "search"),
        describe: (name) => ask({ describe: name }, "describe"),
        console: Object.freeze(
            Object.fromEntries(["log", "info", "warn", "error", "debug", "table", "dir"].map((name) => [name, print])),
        ),
    };
    for (const [name, value] of Object.entries(globals)) {
        defineProperty(globalThis, name, { value });
    }

    const thrown = (error) => {
        if (!(error instanceof Error)) return { message: text(error) };
        const { name, message, stack, suggestions } = error;
        const [, before = 0, line, column] = /code(?:\+(\d+))?\.js:(\d+):(\d+)/.exec(String(stack)) ?? [];
        const described = { message: `${name}: ${message}` };
        if (/^ReferenceError: .* is not defined$/.test(described.message)) described.message += `; ${WORLD}`;
        // The engine gives some errors the place of their function, which may be before the program.
        if (line > before) Object.assign(described, { line: line - before, column: Number(column) });
        if (Array.isArray(suggestions)) described.suggestions = suggestions;
        return described;
    };
    const threw = (error, remedy = "") => {
        let message;
        try {
            const { message: cause, ...place } = thrown(error);
            message = encoded({ threw: { message: cause + remedy, ...place } });
        } catch {
            message = '{"threw":{"message":"an error that cannot be shown"}}';
        }
        send(message);
    };
    const returned = (value) => {
        if (value !== undefined) print(value);
        send('{"returned":true}');
    };
    return {
        evaluated: (promise) => promise.then(({ value }) => value).then(returned).catch((error) => threw(error)),
        receive: (message) => {
            const { answer, now, value, error } = parse(message);
            const { resolve, reject, stack } = waiting.get(answer);
            waiting.delete(answer);
            nowMillis = now;
            if (error === undefined) resolve(result(value));
            else reject(failure(error, stack));
        },
        unread: (error) => threw(error, `; ${LANGUAGE}`),
    };
});

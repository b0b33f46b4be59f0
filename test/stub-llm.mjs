#!/usr/bin/env node
// Stub LLM: a deterministic stand-in for OpenAI- and Anthropic-compatible model servers.
// No dependencies, plain node:http, loopback by default. See README.md.
import http from 'node:http';
import { randomUUID, createHash } from 'node:crypto';

// ---------- configuration ----------
const DEFAULTS = {
  host: '127.0.0.1', port: 55480,
  ttft: 100,          // ms from request fully read to first token
  tps: 100,           // tokens per second after the first token (0 = as fast as possible)
  tokens: 200,        // tokens in a streamed answer
  nsdelay: 20,        // ms before a non-streamed answer (title generation etc.)
  nstokens: 6,        // tokens in a non-streamed answer
  content: 'markdown',// markdown | maths (the same with formulas) | plain
  words: '',          // exactly this text, instead of content and tokens
  dims: 1536,         // embedding size when the request names none
  embdelay: 5, sttdelay: 50,
  listheld: 0,        // 1: the list of models is answered once this is 0 again
  hold: -1,           // a stream pauses after this many tokens until /__stub/release (-1 = never)
  transcript: 'this is the fixed transcript of the stub',
  models: 'stub-gpt,stub-claude,gpt-4o-mini,gpt-4o,claude-3-7-sonnet-latest,claude-sonnet-4-5,text-embedding-3-small,whisper-1',
  tick: 0,            // ms between scheduler ticks; 0 = automatic (4, 10, 20 by load)
  log: 0,
  error: 0,           // status of every answer of a model, for faults in the middle of a test
};
const cfg = { ...DEFAULTS };
const listReleases = [];
const held = new Set();      // functions that resume what is paused
const releasesWaiting = [];  // requests of /__stub/release that came before anything was paused
function pause(resume) { held.add(resume); for (const release of releasesWaiting.splice(0)) release(); }
function releaseHeld() { for (const resume of held) resume(); held.clear(); }
const setCfg = (k, v) => { if (k in DEFAULTS) cfg[k] = typeof DEFAULTS[k] === 'number' ? Number(v) : String(v); };
for (const k of Object.keys(DEFAULTS)) { const e = process.env['STUB_' + k.toUpperCase()]; if (e !== undefined) setCfg(k, e); }
for (const a of process.argv.slice(2)) { const m = /^--([a-z]+)=(.*)$/s.exec(a); if (m) setCfg(m[1], m[2]); }

// ---------- the answer text ----------
const MD = n => `## Section ${n}: how the pieces fit together

The workspace keeps **conversations**, *messages* and [documents](https://example.test/docs/${n}) in one place; every answer quotes its source, and nothing leaves the machine. Here is what matters in step ${n}, with \`inline code\` and a short list:

- First, the request is authorised and stored in \`messages\`.
- Second, passages are retrieved with a hybrid index (lexical *and* vector).
- Third, the model streams its reply token by token.
  1. Tokens are appended to the open row.
  2. Subscribers are notified in commit order.

| Step | Cost (ms) | Share | Note |
| --- | ---: | ---: | --- |
| authorise | ${n % 7}.2 | 4% | cached key set |
| retrieve | ${12 + (n % 9)} | 38% | index \`hnsw\` |
| stream | ${40 + (n % 13)} | 58% | bounded by the model |

\`\`\`ts
export async function step${n}(db: Db, id: string): Promise<Row[]> {
  const rows = await db.query("select id, content from messages where conversation_id = $1", [id]);
  return rows.filter((r) => r.content.length > ${n}); // keep the long ones
}
\`\`\`

> A quoted remark number ${n}: measure first, then decide.

`;
const MATHS = n => `${MD(n)}The cost of step ${n} is $c_{${n}} = \\sqrt{${n}} + 1$, about $${n} and not $10, since

$$
\\sum_{k=1}^{${n}} \\frac{1}{k^2} \\le 2 - \\frac{1}{${n}}
$$

`;
const PLAIN = n => `Paragraph ${n}. The quick brown fox jumps over the lazy dog while the measured system answers in short plain words. `;
// about four characters a token, like real tokenisers on English text
const split = s => s.match(/\s*\S{1,4}|\s+/g) ?? [];
const pools = {};
function pool(kind) { // 16k tokens, with their JSON string forms prepared once
  if (pools[kind]) return pools[kind];
  if (kind.startsWith('words:')) { const raw = split(kind.slice(6)); return { raw, json: raw.map(t => JSON.stringify(t)) }; }
  const f = kind === 'plain' ? PLAIN : kind === 'maths' ? MATHS : MD, raw = [];
  for (let n = 1; raw.length < 16384; n++) raw.push(...split(f(n)));
  return (pools[kind] = { raw, json: raw.map(t => JSON.stringify(t)) });
}
pool('markdown'); pool('maths'); pool('plain');
const text = (kind, n) => { const p = pool(kind).raw; let s = ''; for (let i = 0; i < n; i++) s += p[i % p.length]; return s; };

// ---------- statistics (CLOCK_MONOTONIC microseconds: comparable across processes on one machine) ----------
const now = () => Number(process.hrtime.bigint() / 1000n);
const stats = { requests: 0, streams: 0, done: 0, aborted: 0, active: 0, peak: 0, tokens: 0, late_ms_max: 0, embeddings: 0, transcriptions: 0, errors: 0 };
const records = new Map(); // tag -> {arrive, first, last, end, tokens, prompt_messages}
function record(tag, o) { if (!tag) return; const r = records.get(tag) ?? {}; Object.assign(r, o); records.set(tag, r); if (records.size > 50000) records.delete(records.keys().next().value); }

// ---------- per-request options: config < model name < header < [[stub k=v ...]] in the last user message ----------
const OPT = /\[\[stub ([^\]]*)\]\]/g;
function lastUserText(messages) {
  for (let i = (messages?.length ?? 0) - 1; i >= 0; i--) {
    const m = messages[i]; if (m?.role !== 'user') continue;
    if (typeof m.content === 'string') return m.content;
    if (Array.isArray(m.content)) { if (m.content.every(p => p?.type === 'tool_result')) continue; return m.content.map(p => p?.text ?? '').join('\n'); }
  }
  return '';
}
function parsePairs(s, o) { for (const kv of s.trim().split(/[\s,]+/)) { const i = kv.indexOf('='); if (i > 0) o[kv.slice(0, i)] = kv.slice(i + 1); } }
function options(req, body, promptText) {
  const o = {};
  const mm = /^stub:(.*)$/.exec(body.model ?? ''); if (mm) parsePairs(mm[1], o);
  for (const [k, v] of Object.entries(req.headers)) if (k.startsWith('x-stub-')) o[k.slice(7)] = v;
  let m, last; OPT.lastIndex = 0; while ((m = OPT.exec(promptText))) last = m[1]; if (last) parsePairs(last, o);
  const num = (k, d) => (o[k] === undefined || !Number.isFinite(+o[k]) ? d : +o[k]);
  return { ttft: num('ttft', cfg.ttft), tps: num('tps', cfg.tps), tokens: cfg.words ? split(cfg.words).length : Math.max(0, Math.min(1e6, num('tokens', cfg.tokens))), nsdelay: num('nsdelay', cfg.nsdelay), nstokens: num('nstokens', cfg.nstokens),
    content: cfg.words ? `words:${cfg.words}` : o.content ?? cfg.content, tag: o.tag, error: num('error', cfg.error), cut: num('cut', -1), stall: num('stall', -1), hold: num('hold', cfg.hold), limit: o.limit, tool: o.tool, args: o.args, notools: o.notools, noimages: o.noimages, think: o.think, calls: num('calls', 1) };
}

// ---------- the scheduler: one timer drives every stream ----------
const live = new Set(); let timer = null;
function tickMs() { return cfg.tick || (live.size < 100 ? 4 : live.size < 400 ? 10 : 20); }
function loop() {
  const t = performance.now();
  for (const s of live) { try { s.pump(t); } catch { s.stop(); } }
  timer = live.size ? setTimeout(loop, tickMs()) : null;
}
function startStream(res, o, fmt) {
  const p = pool(o.content), n = o.tokens; let sent = 0, t0 = 0, ended = false, blocked = false, firstAt = 0, hold = o.hold, paused = false;
  const s = {
    resume() { paused = false; hold = -1; t0 = performance.now() - (o.tps > 0 ? (sent * 1000) / o.tps : 0); },
    stop() { if (ended) return; ended = true; live.delete(s); held.delete(s.resume); stats.active--; },
    pump(t) {
      if (ended || blocked) return;
      if (res.destroyed) return s.stop();
      let due = o.tps > 0 ? Math.min(n, 1 + Math.floor((t - t0) * o.tps / 1000)) : Math.min(n, sent + 256);
      if (o.stall >= 0) due = Math.min(due, o.stall);
      if (hold >= 0) due = Math.min(due, hold);
      if (o.cut >= 0 && sent >= o.cut) { s.stop(); res.destroy(); return; }
      if (due > sent) {
        const late = o.tps > 0 ? (t - t0) - (sent * 1000) / o.tps : 0; if (late > stats.late_ms_max) stats.late_ms_max = late;
        let out = ''; for (; sent < due; sent++) out += fmt.token(p.json[sent % p.json.length]);
        stats.tokens += 0;
        if (!res.write(out)) { blocked = true; res.once('drain', () => { blocked = false; }); }
        if (!firstAt) { firstAt = now(); record(o.tag, { first: firstAt }); }
      }
      if (sent === hold && !paused) { paused = true; pause(s.resume); }
      if (paused) return;
      if (sent >= n) { record(o.tag, { last: now(), tokens: n }); res.end(fmt.close(n)); stats.done++; stats.tokens += n; s.stop(); record(o.tag, { end: now() }); }
    },
  };
  res.on('close', () => { if (!ended) { stats.aborted++; record(o.tag, { aborted: now() }); s.stop(); } });
  stats.streams++; stats.active++; stats.peak = Math.max(stats.peak, stats.active);
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', connection: 'keep-alive', 'x-request-id': randomUUID() });
  res.flushHeaders();
  const begin = () => {
    if (ended) return;
    t0 = performance.now(); const open = fmt.open(); if (open) res.write(open);
    live.add(s); s.pump(t0); if (!timer && live.size) timer = setTimeout(loop, tickMs());
  };
  o.ttft > 0 ? setTimeout(begin, o.ttft) : begin();
}

// ---------- helpers ----------
function json(res, code, obj, headers = {}) { const b = JSON.stringify(obj); res.writeHead(code, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(b), ...headers }); res.end(b); }
function readBody(req, limit = 128 << 20) {
  return new Promise((ok, no) => { const c = []; let n = 0; req.on('data', d => { n += d.length; if (n > limit) { no(Object.assign(new Error('too large'), { code: 413 })); req.destroy(); } else c.push(d); }); req.on('end', () => ok(Buffer.concat(c))); req.on('error', no); });
}
const est = s => Math.ceil((s?.length ?? 0) / 4);
const sleep = ms => new Promise(r => setTimeout(r, ms));
function embed(input, dims) { // signed bag-of-words hashing, unit length: texts that share words are near one another
  const v = new Float32Array(dims);
  const words = typeof input === 'string' ? input.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [] : (input ?? []).map(String);
  for (const w of words) { const h = createHash('md5').update(w).digest(); for (let k = 0; k < 4; k++) { const x = h.readUInt32LE(k * 4); v[x % dims] += x & 0x80000000 ? -1 : 1; } }
  let s = 0; for (const x of v) s += x * x; if (!s) { v[0] = 1; s = 1; } const r = 1 / Math.sqrt(s); for (let i = 0; i < dims; i++) v[i] *= r;
  return v;
}
function errorBody(kind, code) { return kind === 'anthropic' ? { type: 'error', error: { type: code === 429 ? 'rate_limit_error' : 'api_error', message: `stub error ${code}` } } : { error: { message: `stub error ${code}`, type: 'stub_error', param: null, code: String(code) } }; }
const toolArgs = o => (o.args ? JSON.parse(decodeURIComponent(o.args)) : { query: 'stub' });
/** A tool is called as long as fewer results than `calls` have come since the question; `tool=` may list one for each call, joined by +. */
const toolTurn = (o, results) => o.tool && results < o.calls ? o.tool.split('+')[results] ?? o.tool.split('+').at(-1) : null;
const resultsSince = (list, isQuestion, count) => { let n = 0; for (let i = list.length - 1; i >= 0 && !isQuestion(list[i]); i--) n += count(list[i]); return n; };
let lastBody = null; // request of the last streamed answer

// ---------- OpenAI chat completions ----------
async function chat(req, res, body) {
  const o = options(req, body, lastUserText(body.messages)); const id = 'chatcmpl-' + randomUUID(), created = Math.floor(Date.now() / 1000), model = body.model ?? 'stub-gpt';
  if (o.error) { stats.errors++; return json(res, o.error, errorBody('openai', o.error)); }
  const promptTokens = est(JSON.stringify(body.messages ?? []));
  if (o.noimages && JSON.stringify(body.messages).includes('"image_url"')) return json(res, 400, { error: { message: `${body.model} does not support image input`, type: 'invalid_request_error', param: null, code: null } });
  if (o.notools && body.tools?.length) return json(res, 400, { error: { message: `${body.model} does not support tools`, type: 'invalid_request_error', param: null, code: null } });
  const wanted = body.tools?.length && body.tool_choice !== 'none' ? toolTurn(o, resultsSince(body.messages ?? [], m => m.role === 'user', m => (m.role === 'tool' ? 1 : 0))) : null, wantTool = Boolean(wanted);
  const toolName = wantTool ? (body.tools.find(t => (t.function?.name ?? t.name) === wanted)?.function?.name ?? wanted) : null;
  if (body.stream) lastBody = body;
  if (!body.stream) {
    await sleep(o.nsdelay);
    const message = wantTool ? { role: 'assistant', content: null, tool_calls: [{ id: 'call_' + randomUUID(), type: 'function', function: { name: toolName, arguments: JSON.stringify(toolArgs(o)) } }] } : { role: 'assistant', content: text('plain', o.nstokens).trim() };
    return json(res, 200, { id, object: 'chat.completion', created, model, choices: [{ index: 0, message, finish_reason: wantTool ? 'tool_calls' : 'stop', logprobs: null }], usage: { prompt_tokens: promptTokens, completion_tokens: o.nstokens, total_tokens: promptTokens + o.nstokens } });
  }
  record(o.tag, { arrive: req.t_arrive, prompt_messages: body.messages?.length, prompt_tokens: promptTokens });
  const head = `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"system_fingerprint":"stub","choices":[{"index":0,"delta":`;
  const usage = n => body.stream_options?.include_usage ? `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":[],"usage":{"prompt_tokens":${promptTokens},"completion_tokens":${n},"total_tokens":${promptTokens + n}}}\n\n` : '';
  if (wantTool) {
    return startStream(res, { ...o, tokens: 0 }, { open: () => head + `{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_${randomUUID()}","type":"function","function":{"name":${JSON.stringify(toolName)},"arguments":${JSON.stringify(JSON.stringify(toolArgs(o)))}}}]},"finish_reason":null}]}\n\n`, token: () => '', close: () => head + '{},"finish_reason":"tool_calls"}]}\n\n' + usage(10) + 'data: [DONE]\n\n' });
  }
  startStream(res, o, {
    open: () => head + '{"role":"assistant","content":""},"finish_reason":null}]}\n\n' + (o.think ? head + `{"reasoning_content":${JSON.stringify(decodeURIComponent(o.think))}},"finish_reason":null}]}\n\n` : ''),
    token: j => head + `{"content":${j}},"finish_reason":null}]}\n\n`,
    close: n => head + `{},"finish_reason":"${o.limit ? 'length' : 'stop'}"}]}\n\n` + usage(n) + 'data: [DONE]\n\n',
  });
}

// ---------- OpenAI responses (the text path only; what newer SDK defaults call) ----------
async function responses(req, res, body) {
  const items = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input ?? [];
  const o = options(req, body, lastUserText(items)); if (o.error) { stats.errors++; return json(res, o.error, errorBody('openai', o.error)); }
  const id = 'resp_' + randomUUID(), mid = 'msg_' + randomUUID(), created_at = Math.floor(Date.now() / 1000), model = body.model ?? 'stub-gpt', it = est(JSON.stringify(items));
  const full = (n, kind) => ({ id, object: 'response', created_at, model, status: 'completed', error: null, incomplete_details: null, output: [{ type: 'message', id: mid, status: 'completed', role: 'assistant', content: [{ type: 'output_text', text: text(kind, n), annotations: [] }] }], usage: { input_tokens: it, input_tokens_details: { cached_tokens: 0 }, output_tokens: n, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: it + n } });
  if (!body.stream) { await sleep(o.nsdelay); return json(res, 200, full(o.nstokens, 'plain')); }
  record(o.tag, { arrive: req.t_arrive, prompt_messages: items.length, prompt_tokens: it });
  lastBody = body;
  const wanted = body.tools?.length && body.tool_choice !== 'none' ? toolTurn(o, resultsSince(items, m => m.role === 'user', m => (m.type === 'function_call_output' ? 1 : 0))) : null;
  let q = 0; const ev = (type, x) => `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: q++, ...x })}\n\n`;
  if (wanted) {
    const call = { type: 'function_call', id: 'fc_' + randomUUID(), call_id: 'call_' + randomUUID(), name: wanted, arguments: JSON.stringify(toolArgs(o)), status: 'completed' };
    return startStream(res, { ...o, tokens: 0 }, {
      open: () => ev('response.created', { response: { ...full(0, 'plain'), status: 'in_progress', output: [], usage: null } }) + ev('response.output_item.added', { output_index: 0, item: { ...call, arguments: '', status: 'in_progress' } }) + ev('response.function_call_arguments.delta', { item_id: call.id, output_index: 0, delta: call.arguments }) + ev('response.function_call_arguments.done', { item_id: call.id, output_index: 0, arguments: call.arguments }) + ev('response.output_item.done', { output_index: 0, item: call }),
      token: () => '', close: () => ev('response.completed', { response: { ...full(10, 'plain'), output: [call] } }),
    });
  }
  const part = { type: 'output_text', text: '', annotations: [] };
  startStream(res, o, {
    open: () => ev('response.created', { response: { ...full(0, 'plain'), status: 'in_progress', output: [], usage: null } }) + ev('response.output_item.added', { output_index: 0, item: { type: 'message', id: mid, status: 'in_progress', role: 'assistant', content: [] } }) + ev('response.content_part.added', { item_id: mid, output_index: 0, content_index: 0, part }),
    token: j => `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":${q++},"item_id":"${mid}","output_index":0,"content_index":0,"delta":${j}}\n\n`,
    close: n => { const f = full(n, o.content), t = f.output[0].content[0]; return ev('response.output_text.done', { item_id: mid, output_index: 0, content_index: 0, text: t.text }) + ev('response.content_part.done', { item_id: mid, output_index: 0, content_index: 0, part: t }) + ev('response.output_item.done', { output_index: 0, item: f.output[0] }) + ev('response.completed', { response: f }); },
  });
}

// ---------- Anthropic messages ----------
async function messages(req, res, body) {
  const o = options(req, body, lastUserText(body.messages)); if (o.error) { stats.errors++; return json(res, o.error, errorBody('anthropic', o.error)); }
  const id = 'msg_' + randomUUID().replaceAll('-', ''), model = body.model ?? 'stub-claude', it = est(JSON.stringify(body.messages ?? []));
  const results = m => (Array.isArray(m.content) ? m.content.filter(p => p.type === 'tool_result').length : 0);
  const toolName = body.tools?.length && body.tool_choice?.type !== 'none' ? toolTurn(o, resultsSince(body.messages ?? [], m => m.role === 'user' && results(m) === 0, results)) : null, wantTool = Boolean(toolName);
  if (body.stream) lastBody = body;
  if (!body.stream) {
    await sleep(o.nsdelay);
    return json(res, 200, { id, type: 'message', role: 'assistant', model, content: wantTool ? [{ type: 'tool_use', id: 'toolu_' + randomUUID(), name: toolName, input: toolArgs(o) }] : [{ type: 'text', text: text('plain', o.nstokens).trim() }], stop_reason: wantTool ? 'tool_use' : 'end_turn', stop_sequence: null, usage: { input_tokens: it, output_tokens: o.nstokens } });
  }
  record(o.tag, { arrive: req.t_arrive, prompt_messages: body.messages?.length, prompt_tokens: it });
  const ev = (type, x) => `event: ${type}\ndata: ${JSON.stringify({ type, ...x })}\n\n`;
  const start = () => ev('message_start', { message: { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: it, output_tokens: 1 } } });
  const end = (n, reason) => ev('content_block_stop', { index: 0 }) + ev('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: n } }) + ev('message_stop', {});
  if (wantTool) return startStream(res, { ...o, tokens: 0 }, { open: () => start() + ev('content_block_start', { index: 0, content_block: { type: 'tool_use', id: 'toolu_' + randomUUID(), name: toolName, input: {} } }) + ev('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(toolArgs(o)) } }), token: () => '', close: () => end(10, 'tool_use') });
  startStream(res, o, {
    open: () => start() + ev('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) + ev('ping', {}),
    token: j => `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${j}}}\n\n`,
    close: n => end(n, 'end_turn'),
  });
}

// ---------- router ----------
const modelList = () => cfg.models.split(',').map(s => s.trim()).filter(Boolean);
async function handle(req, res) {
  req.t_arrive = now(); stats.requests++;
  const u = new URL(req.url, 'http://x'); let p = u.pathname.replace(/\/+$/, '') || '/'; p = p.replace(/^\/(openai\/|anthropic\/|api\/)?v1(?=\/)/, '');
  if (cfg.log) console.log(req.method, req.url);
  if (req.method === 'OPTIONS') { res.writeHead(204, { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': '*' }); return res.end(); }
  if (p === '/' || p === '/health') return json(res, 200, { ok: true, stub: 'llm', pid: process.pid });
  if (p === '/__stub/stats') { if (u.searchParams.has('reset')) { for (const k of Object.keys(stats)) if (k !== 'active') stats[k] = 0; records.clear(); } return json(res, 200, { ...stats, rss: process.memoryUsage.rss(), cpu: process.cpuUsage(), cfg }); }
  if (p === '/__stub/records') { const b = u.searchParams.get('prefix') ?? ''; const out = {}; for (const [k, v] of records) if (k.startsWith(b)) out[k] = v; return json(res, 200, out); }
  if (p === '/__stub/config') { for (const [k, v] of u.searchParams) setCfg(k, v); if (!cfg.listheld) for (const release of listReleases.splice(0)) release(); return json(res, 200, cfg); }
  if (p === '/__stub/release') { if (held.size === 0) await new Promise(resolve => releasesWaiting.push(resolve)); releaseHeld(); return json(res, 200, {}); }
  if (p === '/__stub/text') return json(res, 200, { text: text(u.searchParams.get('content') ?? cfg.content, Number(u.searchParams.get('tokens') ?? cfg.tokens)) });
  if (p === '/__stub/last') return json(res, 200, lastBody ?? {});
  if (/^(Bearer )?wrong/.test(req.headers.authorization ?? req.headers['x-api-key'] ?? '')) return json(res, 401, errorBody('openai', 401));
  if (req.method === 'GET' && p === '/models' && cfg.listheld) await new Promise(release => listReleases.push(release));
  if (req.method === 'GET' && p === '/models') return json(res, 200, req.headers['anthropic-version'] ? { data: modelList().map(id => ({ type: 'model', id, display_name: id, created_at: '2025-01-01T00:00:00Z' })), has_more: false, first_id: modelList()[0], last_id: modelList().at(-1) } : { object: 'list', data: modelList().map(id => ({ id, object: 'model', created: 1735689600, owned_by: 'stub', context_length: 128000 })) });
  if (req.method === 'GET' && p.startsWith('/models/')) return json(res, 200, { id: decodeURIComponent(p.slice(8)), object: 'model', created: 1735689600, owned_by: 'stub' });
  if (req.method !== 'POST') return json(res, 404, errorBody('openai', 404));
  const raw = await readBody(req);
  req.t_arrive = now();
  if (p === '/audio/transcriptions' || p === '/audio/translations') {
    stats.transcriptions++; await sleep(cfg.sttdelay);
    const m = /name="response_format"\r?\n\r?\n(\w+)/.exec(raw.subarray(0, 4096).toString('latin1') + raw.subarray(Math.max(0, raw.length - 4096)).toString('latin1'));
    if (m?.[1] === 'text') { res.writeHead(200, { 'content-type': 'text/plain' }); return res.end(cfg.transcript); }
    return json(res, 200, m?.[1] === 'verbose_json' ? { task: 'transcribe', language: 'english', duration: 1, text: cfg.transcript, segments: [] } : { text: cfg.transcript, bytes: raw.length });
  }
  let body; try { body = JSON.parse(raw.toString('utf8') || '{}'); } catch { return json(res, 400, errorBody('openai', 400)); }
  switch (p) {
    case '/chat/completions': return chat(req, res, body);
    case '/responses': return responses(req, res, body);
    case '/messages': return messages(req, res, body);
    case '/messages/count_tokens': return json(res, 200, { input_tokens: est(JSON.stringify(body.messages ?? [])) });
    case '/embeddings': {
      stats.embeddings++; if (cfg.embdelay) await sleep(cfg.embdelay);
      const list = Array.isArray(body.input) && typeof body.input[0] !== 'number' ? body.input : [body.input]; const d = body.dimensions ?? cfg.dims;
      let n = 0; const data = list.map((x, index) => { n += typeof x === 'string' ? est(x) : x?.length ?? 0; const v = embed(x, d); return { object: 'embedding', index, embedding: body.encoding_format === 'base64' ? Buffer.from(v.buffer).toString('base64') : Array.from(v) }; });
      return json(res, 200, { object: 'list', data, model: body.model ?? 'text-embedding-3-small', usage: { prompt_tokens: n, total_tokens: n } });
    }
    default: return json(res, 404, errorBody('openai', 404));
  }
}
const server = http.createServer({ keepAlive: true, noDelay: true }, (req, res) => { handle(req, res).catch(e => { stats.errors++; if (!res.headersSent) json(res, e.code === 413 ? 413 : 500, errorBody('openai', 500)); else res.destroy(); }); });
server.keepAliveTimeout = 65000; server.headersTimeout = 70000; server.requestTimeout = 0; server.maxRequestsPerSocket = 0;
server.on('clientError', (_e, s) => s.destroy());
server.listen({ host: cfg.host, port: cfg.port, backlog: 4096 }, () => console.log(`stub-llm listening on http://${cfg.host}:${server.address().port}/v1 pid ${process.pid}`));
process.on('uncaughtException', e => { stats.errors++; if (cfg.log) console.error(e); });
for (const sig of ['SIGINT', 'SIGTERM']) process.on(sig, () => { server.close(); server.closeAllConnections(); process.exit(0); });

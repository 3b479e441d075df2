import { LAYOUT } from '../../session/record.js';
import { script, type Evaluate } from './send.js';
import { createWriteIf, PUBLISH, toArguments, type WriteIf } from './write-if.js';

/**
 * load: reads at one moment.
 *
 * Keys: the conversation's record, its files. Arguments: commands that read, each preceded by its number of words.
 * `CALLS` takes a limit, the session's record, its content and names of contents. It replies with the order of the
 * newest step's calls, and with the calls and these contents unless they exceed the limit. `ROWS` takes a limit, the
 * rows and an index. It replies with the number of rows, and with those from the index on unless they exceed the limit.
 * `STATE` takes the session's record and its content, and replies with the current version of the agent's state.
 *
 * @returns version, sequence and size of the log, and the field of an earlier build · changes of the files · time ·
 * replies
 */
export const LOAD = script(`
local function calls(most, key, content, ...)
  local order = redis.call('HGET', key, 'order')
  local ids = order and cjson.decode(order) or {}
  if #ids > tonumber(most) then return { order } end
  local replies = { order }
  local function add(hash, kind)
    local fields = {}
    for n, id in ipairs(ids) do fields[n] = kind .. ':' .. id end
    replies[#replies + 1] = #ids == 0 and {} or redis.call('HMGET', hash, unpack(fields))
  end
  add(key, 'call')
  for _, kind in ipairs({ ... }) do add(content, kind) end
  return replies
end
local function rows(most, key, from)
  local count = redis.call('LLEN', key)
  if count - tonumber(from) > tonumber(most) then return { count } end
  return { count, redis.call('LRANGE', key, from, -1) }
end
local function state(key, content)
  local isWhole, record = pcall(cjson.decode, redis.call('HGET', key, 'record') or '')
  local version = isWhole and type(record) == 'table' and record.state and record.state.version
  if type(version) ~= 'number' then return {} end
  local name = string.format('v:%.0f', version)
  return { name, redis.call('HGET', content, name) }
end
local own = { CALLS = calls, ROWS = rows, STATE = state }
local replies, place = {}, 1
while place <= #ARGV do
  local last = place + tonumber(ARGV[place])
  local read = own[ARGV[place + 1]]
  replies[#replies + 1] = read and read(unpack(ARGV, place + 2, last)) or redis.call(unpack(ARGV, place + 1, last))
  place = last + 1
end
local at = redis.call('HMGET', KEYS[1], 'v', 'seq', 'logBytes', 'status')
return { at, redis.call('HGET', KEYS[2], 'changes'), redis.call('TIME'), replies }`);

/**
 * append: adds a batch of messages to the log for the writer's current owner.
 *
 * Keys: the session's record · its writers · the conversation's record · the log · the channel. Arguments: run, or `*`
 * for a writer without a run · writer · token · batch · now · known, the highest sequence that the writer has seen ·
 * notes, the messages that the call's row keeps: letter and place · messages.
 *
 * In this order: the batch was stored before (its first reply) · the record has a newer layout · the store is older
 * than `known` · the run is over or superseded · another attempt owns the writer · a batch is missing before this one ·
 * the stream is paused · the log with the earlier batches is gone.
 *
 * @returns 1, the sequence, 1 if a stop was requested · 2 fenced · 3 superseded · 4 paused · 5 rewound · 6 newer
 */
export const APPEND = script(`${PUBLISH}
local run, writer, token, batch = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local live = redis.call('HGET', KEYS[1], 'live') or '0 - 0 0'
local layout, active, stop, paused = string.match(live, '^(%d+) (%S+) (%d) (%d)$')
local owner = redis.call('HMGET', KEYS[2], 't:' .. writer, 'b:' .. writer)
local last, stored = string.match(owner[2] or '', '^(%d+) (%d+)$')
last = tonumber(last or '-1')
if owner[1] == token and last >= batch then return { 1, tonumber(stored), tonumber(stop) or 0 } end
if tonumber(layout) > ${String(LAYOUT)} then return { 6 } end
local log = redis.call('HMGET', KEYS[3], 'seq', 'logBytes')
local before = tonumber(log[1] or '0')
if before < tonumber(ARGV[6]) then return { 5 } end
if run ~= '*' and active ~= run then return { 3 } end
if owner[1] ~= token then return { 2 } end
if last ~= batch - 1 then return { 5 } end
if run == '*' and paused == '1' then return { 4 } end
local function add(id, fields)
  if last > 0 then return redis.pcall('XADD', KEYS[4], 'NOMKSTREAM', id .. '-0', unpack(fields)) end
  return redis.pcall('XADD', KEYS[4], id .. '-0', unpack(fields))
end
local at, bytes, name, entries = before, tonumber(log[2] or '0'), cjson.encode(writer), {}
for place = 8, #ARGV do
  local message = ARGV[place]
  at = at + 1
  bytes = bytes + #message
  local id = string.format('%.0f', at)
  local fields = { writer, message }
  if string.byte(message) ~= 91 then fields = { 'w', writer, 'c', message } end
  local added = add(id, fields)
  if not added then return { 5 } end
  while type(added) == 'table' and added.err and string.find(added.err, 'equal or smaller', 1, true) do
    local newest = redis.call('XREVRANGE', KEYS[4], '+', '-', 'COUNT', 1)[1]
    local top = newest and tonumber(string.match(newest[1], '^%d+')) or 0
    at = math.max(top + 1, at + at - before + 1)
    if #entries == 0 then before = at - 1 end
    id = string.format('%.0f', at)
    added = add(id, fields)
  end
  if type(added) == 'table' and added.err then return added end
  entries[#entries + 1] = '[' .. id .. ',' .. name .. ',' .. message .. ']'
end
local newest = string.format('%.0f', at)
redis.call('HSET', KEYS[3], 'seq', newest, 'logBytes', string.format('%.0f', bytes), 'appended', ARGV[5])
redis.call('HSET', KEYS[2], 'b:' .. writer, ARGV[4] .. ' ' .. newest)
publish(KEYS[5], '[' .. string.format('%.0f', before) .. ',[' .. table.concat(entries, ',') .. ']]')
if ARGV[7] ~= '' then
  local notes = redis.call('HGET', KEYS[2], 'e:' .. writer) or ''
  for kind, place in string.gmatch(ARGV[7], '(%a)(%d+)') do
    local note = kind .. string.format('%.0f', at - #entries + 1 + tonumber(place))
    notes = notes == '' and note or notes .. ' ' .. note
  end
  redis.call('HSET', KEYS[2], 'e:' .. writer, notes)
end
return { 1, at, tonumber(stop) or 0 }`);

/** Work on one slot that nothing interrupts: Redis does it in scripts. */
export interface Atomic {
  /** Replies as LOAD does. Null for a read of several values leaves these to be asked for one by one. */
  load: (
    keys: readonly string[],
    commands: readonly (readonly string[])[],
    isLarge: boolean,
  ) => Promise<unknown>;
  /** Takes the keys and arguments of APPEND, and replies as it does. */
  append: (keys: readonly string[], args: readonly string[]) => Promise<number[]>;
  /** Changes data outside the slots of conversations too. */
  writeIf: WriteIf;
}

/** @param evaluateLarge runs scripts on the connection for large reads */
export function createAtomic(evaluate: Evaluate, evaluateLarge = evaluate): Atomic {
  return {
    load: (keys, commands, isLarge) =>
      (isLarge ? evaluateLarge : evaluate)(LOAD, keys, commands.flatMap(toArguments)),
    append: (keys, args) => evaluate(APPEND, keys, args) as Promise<number[]>,
    writeIf: createWriteIf(evaluate),
  };
}

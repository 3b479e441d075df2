--[[ commit: stores a step's reply and opens its calls; pauses or ends the run if nothing else is to do.
     ARGV 1 sessionId  2 run  3 writer  4 token  5 agentType  6 step  7 now
          8 row or ''  9 outcome  10 checkpointId  11 '1' if this answers a stop
          12 terminal status or ''  13 error or ''  14 code for calls that stay open
          15 known: highest sequence that the writer was told
         16 usage, as in add_usage  17 finish reason or ''  18 output: result that the model handed in, JSON or ''
         19 chunk count, chunks, then call count and per call: id, name, kind, spec, row or '', '1' if it may be
            repeated, chunk that asks people without step and time if it is kept back until the pause, or '',
            part of that row, part of the sub-agent's session id, or '', row that it begins with
     -> DONE outcome status | STOPPED stop | REWOUND | SUPERSEDED | FENCED
        COMMITTED sequence paused next    next is 1 if the run has ended and messages wait
        STEERED sequence                  as committed, but the run takes another step for messages that wait ]]
local run, writer, step = ARGV[2], ARGV[3], tonumber(ARGV[6])
local who = { agentId = ARGV[1], agentType = ARGV[5], step = step, now = tonumber(ARGV[7]) }
local r = root_table()
if r.run == run and tonumber(r.committed) >= step then return { 'DONE', r.outcome, r.status } end
if tonumber(r.seq or '0') < tonumber(ARGV[15]) then return { 'REWOUND' } end
if r.run ~= run then return { 'SUPERSEDED' } end
if r.stop and ARGV[11] ~= '1' and not TERMINAL[r.status] then return { 'STOPPED', r.stop } end
if TERMINAL[r.status] then return { 'SUPERSEDED' } end
if redis.call('HGET', K.writers, 't:' .. writer) ~= ARGV[4] then return { 'FENCED' } end
if tonumber(r.committed) ~= step - 1 then return { 'FENCED' } end

local log = open_session_log(r)
if ARGV[8] ~= '' then push_reply(r, ARGV[8]) end
local at = 20
for _ = 1, tonumber(ARGV[19]) do
  log.write(writer, ARGV[at])
  at = at + 1
end
local calls = tonumber(ARGV[at])
at = at + 1
for _ = 1, calls do
  local id, kind, row = ARGV[at], ARGV[at + 2], ARGV[at + 4]
  local state = (kind == 'server' or kind == 'subagent') and 'open' or 'waiting'
  redis.call('RPUSH', K.order, id)
  redis.call('HSET', K.calls, 'name:' .. id, ARGV[at + 1], 'kind:' .. id, kind, 'spec:' .. id, ARGV[at + 3],
    'state:' .. id, state, 'again:' .. id, ARGV[at + 5])
  if row ~= '' then
    settle_row(id, row)
  elseif state == 'open' then
    redis.call('SADD', K.busy, id)
  end
  if ARGV[at + 6] ~= '' and row == '' then
    redis.call('HSET', K.calls, 'ask:' .. id, ARGV[at + 6], 'part:' .. id, ARGV[at + 7])
  end
  if ARGV[at + 8] ~= '' then redis.call('HSET', K.calls, 'child:' .. id, ARGV[at + 8], 'brief:' .. id, ARGV[at + 9]) end
  if K.root ~= T.root then own_call_id(id) end
  at = at + 10
end
redis.call('SREM', K.busy, 'model')
release_writer(writer)
redis.call('RPUSH', K.checkpoints, cjson.encode({
  id = ARGV[10], runId = run, stepCount = step, messageCount = redis.call('LLEN', K.rows),
  streamSequence = log.seq, timestamp = who.now, stateVersion = tonumber(r.stateV or '0'),
}))
local steered = ARGV[12] == 'completed' and steering_waits() and not has_unsettled()
local outcome = steered and '{"kind":"calls","step":' .. ARGV[6] .. ',"calls":[]}' or ARGV[9]
redis.call('HSET', K.root, 'committed', step, 'outcome', outcome, 'checkpoint', ARGV[10], 'updated', ARGV[7],
  'checkpointV', r.stateV or '0')
-- The state that the turn began with: of a steered run, each turn has its own.
if (r.turnV or ''):match('^%d+') ~= r.turn then redis.call('HSET', K.root, 'turnV', r.turn .. ' ' .. (r.stateV or '0')) end
r.checkpoint, r.committed = ARGV[10], ARGV[6]
add_usage(ARGV[16])
if ARGV[17] ~= '' then
  r.finishReason = ARGV[17]
  redis.call('HSET', K.root, 'finishReason', r.finishReason)
end
if ARGV[18] ~= '' and not steered then
  r.output = ARGV[18]
  redis.call('HSET', K.root, 'output', r.output)
end
if steered then
  log.close()
  return { 'STEERED', log.seq }
end
local paused, next_waits = false, false
if ARGV[12] ~= '' then
  local reason = r.stop and cjson.decode(r.stop).reason or nil
  finish(r, log, who, ARGV[12], ARGV[13], reason, ARGV[14])
  next_waits = redis.call('LLEN', K.queue) > 0
else
  paused = rest_if_waiting(r, log, who.now)
end
log.close()
return { 'COMMITTED', log.seq, paused and 1 or 0, next_waits and 1 or 0 }

--[[ settle call: the one result of a call, or a person's decision about it; the first one wins.
     ARGV 1 sessionId  2 run  3 writer  4 token  5 agentType  6 step  7 now  8 toolCallId
          9 source: tool | approval  10 row or ''  11 decision or ''  12 '1' if approved
          13 chunk count, chunks
     -> STORED sequence resumption-or-''
        ALREADY | NOT_PENDING | KIND | STALE | FENCED ]]
local run, writer, id, source = ARGV[2], ARGV[3], ARGV[8], ARGV[9]
local r = root_table()
local state = call_field(id, 'state')
if state == 'settled' or redis.call('SISMEMBER', K.settled, id) == 1 then return { 'ALREADY' } end
if not state then return { 'NOT_PENDING' } end
if r.run ~= run or TERMINAL[r.status] then return { 'STALE' } end
if source == 'tool' then
  if redis.call('HGET', K.writers, 't:' .. writer) ~= ARGV[4] or state ~= 'started' then return { 'FENCED' } end
else
  if call_field(id, 'kind') ~= 'approval' then return { 'KIND' } end
  if state ~= 'waiting' then return { 'ALREADY' } end
end

local who = {
  agentId = ARGV[1], agentType = ARGV[5], now = tonumber(ARGV[7]),
  step = source == 'tool' and tonumber(ARGV[6]) or tonumber(r.committed),
}
local log = open_session_log(r)
for i = 1, tonumber(ARGV[13]) do log.write(source == 'tool' and writer or '', ARGV[13 + i]) end
redis.call('HSET', K.root, 'updated', ARGV[7])
if source == 'tool' then
  settle_row(id, ARGV[10])
  pause_if_waiting(r, log, who)
  log.close()
  return { 'STORED', log.seq, '' }
end

redis.call('HSET', K.calls, 'decision:' .. id, ARGV[11])
if ARGV[12] == '1' then
  redis.call('HSET', K.calls, 'state:' .. id, 'approved')
else
  settle_row(id, ARGV[10])
end
local approved, waiting = {}, false
for _, other in ipairs(redis.call('LRANGE', K.order, 0, -1)) do
  local s = call_field(other, 'state')
  if s == 'waiting' then waiting = true end
  if s == 'approved' then approved[#approved + 1] = other end
end
local resumption = ''
-- Only a paused run resumes here; while siblings still run, the workflow waits for them anyway.
if not waiting then
  for _, other in ipairs(approved) do redis.call('SADD', K.busy, other) end
  local list = #approved == 0 and '[]' or cjson.encode(approved)
  resumption = '{"step":' .. r.committed .. ',"approved":' .. list .. '}'
  if r.stream == 'paused' then
    log.write('', own_chunk(who, 'run_resumed', {
      runId = run, fromCheckpointId = r.checkpoint or cjson.null, fromStepCount = who.step, mode = 'continue',
    }))
  end
  redis.call('HSET', K.root, 'status', 'running', 'stream', 'active', 'resume', resumption)
end
log.close()
return { 'STORED', log.seq, resumption }

--[[ begin: accepts user messages and makes a run for them; the only script that creates a session.
     ARGV 1 sessionId  2 agent  3 owner  4 tenant  5 nonce  6 now  7 stream cap, 0: none  8 message count,
          then per message: id, hash, row, '1' if hidden
     -> ACCEPTED             every message was accepted before
        BEGUN run turn messageId startSequence superseded-run-or-''
        BUSY | FOREIGN | AGENT name | CONFLICT messageId ]]
local sessionId, agent, owner, tenant = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local nonce, now, cap, count = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local r = root_table()
if r.agent then
  if r.owner ~= owner or (r.tenant or '') ~= tenant then return { 'FOREIGN' } end
  if r.agent ~= agent then return { 'AGENT', r.agent } end
end

local fresh = {}
for i = 0, count - 1 do
  local at = 9 + i * 4
  local known = redis.call('HGET', K.messages, ARGV[at])
  if known and known ~= ARGV[at + 1] then return { 'CONFLICT', ARGV[at] } end
  if not known then fresh[#fresh + 1] = at end
end
if #fresh == 0 then return { 'ACCEPTED' } end

local log = open_session_log(r)
local superseded = ''
if r.status and not TERMINAL[r.status] then
  if r.stream ~= 'paused' or not has_unsettled() then return { 'BUSY' } end
  -- Abandonment: results that were given are kept, the rest is settled, the new message follows.
  superseded = r.run
  local who = { agentId = sessionId, agentType = agent, step = tonumber(r.committed), now = now }
  finish(r, log, who, 'interrupted', '', 'abandoned', 'client_tool_abandoned')
end

take_in_notices()
local n = tonumber(r.runN or '0') + 1
local turn = tonumber(r.turn or '0') + 1
local run = sessionId .. ':' .. string.format('%d', n) .. '-' .. nonce
local firstRow = redis.call('LLEN', K.rows)
local ui = tonumber(redis.call('HGET', K.root, 'uiCount') or '0')
for _, at in ipairs(fresh) do
  redis.call('RPUSH', K.rows, ARGV[at + 2])
  redis.call('HSET', K.messages, ARGV[at], ARGV[at + 1])
  if ARGV[at + 3] ~= '1' then ui = ui + 1 end
end
if cap > 0 and redis.call('XLEN', K.stream) > cap then
  -- Whole old turns only; the turn before this one stays, somebody may be reading its end.
  trim_log(tonumber(r.turnSeq or '0'))
end
log.close()
recount_controls()
keep_for_ever()
redis.call('DEL', K.busy, K.writers, K.order)
redis.call('HDEL', K.root, 'stop', 'error', 'streamError', 'interrupted', 'resume', 'outcome', 'snapTurn', 'snapAt',
  'usage', 'finishReason', 'output', 'children')
if not r.agent then
  redis.call('HSET', K.root, 'agent', agent, 'owner', owner, 'tenant', tenant, 'created', ARGV[6], 'born', nonce)
end
local seq = string.format('%d', log.seq)
local message = 'msg-' .. string.format('%d', ui)
redis.call('HSET', K.root, 'run', run, 'runN', n, 'turn', turn, 'status', 'starting', 'stream', 'active',
  'messageId', message, 'turnSeq', seq, 'turnRow', firstRow, 'uiCount', ui, 'seq', seq, 'pauseSeq', seq,
  'claimed', 0, 'committed', 0, 'started', ARGV[6], 'updated', ARGV[6])
return { 'BEGUN', run, turn, message, log.seq, superseded }

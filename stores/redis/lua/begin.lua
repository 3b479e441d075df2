--[[ begin: accepts user messages and makes a run for them; the only script that creates a session.
     While a run is at work, or other messages wait, a policy says what becomes of them.
     ARGV 1 sessionId  2 agent  3 owner  4 tenant  5 nonce  6 now  7 stream cap, 0: none
          8 policy: reject | queue | steer | interrupt  9 most entries that may wait  10 stop record of an interrupt
          11 who sends, or ''  12 message count, then per message: id, hash, row, '1' if hidden; then the
          agent's own state from the run's beginning on, or '' (not for messages that wait), mode of the
          run, and who asked for it or ''
     -> ACCEPTED             every message was accepted before
        BEGUN run turn messageId startSequence superseded-run-or-''
        QUEUED sequence      and, as of BEGUN, a run that was made for messages before these, or ''
        STEERED run sequence | INTERRUPTING run sequence | QUEUE_FULL
        BUSY | FOREIGN | AGENT name | CONFLICT messageId ]]
local sessionId, agent, owner, tenant = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local nonce, now, policy, count = ARGV[5], tonumber(ARGV[6]), ARGV[8], tonumber(ARGV[12])
local r = root_table()
if r.agent then
  if r.owner ~= owner or (r.tenant or '') ~= tenant then return { 'FOREIGN' } end
  if r.agent ~= agent then return { 'AGENT', r.agent } end
end

local fresh = {}
for i = 0, count - 1 do
  local at = 13 + i * 4
  local id, hash = ARGV[at], ARGV[at + 1]
  local known = redis.call('HGET', K.messages, id)
  if known and known ~= hash then return { 'CONFLICT', id } end
  if not known then
    fresh[#fresh + 1] = { id = id, hash = hash, row = ARGV[at + 2], hidden = ARGV[at + 3] == '1' }
  end
end
if #fresh == 0 then return { 'ACCEPTED' } end

local at_work = r.status and not TERMINAL[r.status]
local abandons = at_work and r.stream == 'paused' and has_unsettled()
local waiting = redis.call('LLEN', K.queue)
if (at_work and not abandons) or waiting > 0 then
  -- What waits is not overtaken, whatever becomes of the run.
  if policy == 'reject' and not abandons then return { 'BUSY' } end
  if waiting >= tonumber(ARGV[9]) then return { 'QUEUE_FULL' } end
end
for _, message in ipairs(fresh) do redis.call('HSET', K.messages, message.id, message.hash) end

local log = open_session_log(r)
local who = { agentId = sessionId, agentType = agent, step = tonumber(r.committed or '0'), now = now }
local entry = { id = fresh[1].id, mode = policy, messages = fresh, queuedAt = now }
if ARGV[11] ~= '' then entry.by = ARGV[11] end
if not at_work or abandons then entry.mode = policy == 'interrupt' and policy or 'queue' end
local superseded = ''
if abandons then
  -- Results that were given are kept, the rest is settled, the new message follows.
  superseded = r.run
  finish(r, log, who, 'interrupted', '', 'abandoned', 'client_tool_abandoned')
elseif at_work and policy == 'interrupt' then
  if request_stop(r, 'interrupt', ARGV[10]) then
    push_queued(log, who, entry)
    log.close()
    return { 'INTERRUPTING', r.run, log.seq }
  end
  superseded = r.run
  finish_stopped(r, log, who)
elseif at_work then
  push_queued(log, who, entry)
  log.close()
  if policy == 'steer' then return { 'STEERED', r.run, log.seq } end
  return { 'QUEUED', log.seq, '' }
end

if not r.agent then
  redis.call('HSET', K.root, 'agent', agent, 'owner', owner, 'tenant', tenant, 'created', ARGV[6], 'born', nonce)
end
local new = { sessionId = sessionId, agent = agent, nonce = nonce, now = ARGV[6], cap = tonumber(ARGV[7]), messages = fresh }
if waiting > 0 and policy ~= 'interrupt' then
  push_queued(log, who, entry)
  local sequence = log.seq
  new.messages, new.waited = pop_queued().messages, true
  local run, turn, message, start = make_run(r, log, new)
  return { 'QUEUED', sequence, run, turn, message, start, superseded }
end
local state = ARGV[13 + count * 4]
if state ~= '' then put_state(r, state) end
new.mode, new.by = ARGV[14 + 4 * count], ARGV[15 + 4 * count]
local run, turn, message, start = make_run(r, log, new)
return { 'BEGUN', run, turn, message, start, superseded }

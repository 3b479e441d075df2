--[[ claim: makes a model writer the owner of its step; withdraws what earlier attempts left,
     or takes in messages that steer the run.
     ARGV 1 sessionId  2 run  3 writer  4 token  5 agentType  6 step  7 now
          8 known: highest sequence that the run was told
     -> DONE outcome status    committed before (the newest step's outcome)
        STOPPED stop | SUPERSEDED | FENCED | NOT_READY
        REWOUND                   the store is older than the run
        CLAIMED rowCount sequence failures messageId born usage-or-''
          ids of all calls if the session was rewound, or '' ]]
local run, writer, token, step = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[6])
local who = { agentId = ARGV[1], agentType = ARGV[5], step = step, now = tonumber(ARGV[7]) }
local r = root_table()
local committed = tonumber(r.committed or '0')
if r.run == run and committed >= step then return { 'DONE', r.outcome, r.status } end
local runN = tonumber(run:match(':(%d+)%-[^:]*$') or '0')
if tonumber(r.seq or '0') < tonumber(ARGV[8]) or tonumber(r.runN or '0') < runN then return { 'REWOUND' } end
if r.run ~= run then return { 'SUPERSEDED' } end
if TERMINAL[r.status] then return { 'SUPERSEDED' } end
if r.stop then return { 'STOPPED', r.stop } end
local owner = tonumber(redis.call('HGET', K.writers, 't:' .. writer) or '0')
if owner > token then return { 'FENCED' } end
-- A sub-agent whose calls are answered goes on with the others.
if committed ~= step - 1 then return { 'REWOUND' } end
if has_unsettled() or (K.root ~= T.root and r.stream == 'paused') then return { 'NOT_READY' } end

local log = open_session_log(r)
if owner < token then
  take_in_results()
  take_in_notices()
  if owner > 0 then
    discard_attempt(r, log, who, writer, 'attempt_lost')
  else
    take_steering(r, log, who)
  end
  log.close()
  own_writer(writer, ARGV[4], log.seq)
  redis.call('SADD', K.busy, 'model')
  redis.call('HSET', T.root, 'stream', 'active', 'updated', ARGV[7])
  redis.call('HSET', K.root, 'status', 'running', 'claimed', step, 'updated', ARGV[7])
  redis.call('HDEL', K.root, 'resume', 'taken')
  redis.call('HDEL', T.root, 'wake:' .. own_part())
end
local failures = tonumber(redis.call('HGET', K.writers, 'fails:' .. ARGV[6]) or '0')
-- Ids of calls that a rewind dropped stay used.
local used = r.rewound and redis.call('SCARD', K.settled) > 0 and cjson.encode(redis.call('SMEMBERS', K.settled)) or ''
return { 'CLAIMED', redis.call('LLEN', K.rows), log.seq, failures, r.messageId, r.born, r.usage or '', used }

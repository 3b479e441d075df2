--[[ end: ends a run, also over the head of a writer that does not answer: it is fenced off.
     ARGV 1 sessionId  2 run  3 agentType  4 step  5 status  6 error or ''  7 row or ''  8 now
          9 floor: what is written is numbered above this sequence, 0 if there is none
     -> ENDED status next    next is 1 if messages wait for their turn
        SUPERSEDED ]]
local r = root_table()
if r.run ~= ARGV[2] then return { 'SUPERSEDED' } end
if TERMINAL[r.status] then return { 'ENDED', r.status, redis.call('LLEN', K.queue) > 0 and 1 or 0 } end
local who = { agentId = ARGV[1], agentType = ARGV[3], step = tonumber(ARGV[4]), now = tonumber(ARGV[8]) }
local status, code, reason = ARGV[5], 'run_stopped', nil
if status == 'failed' then code = 'run_failed' end
if r.stop and status ~= 'failed' then
  local stop = cjson.decode(r.stop)
  status, reason = stop.mode == 'abort' and 'aborted' or 'interrupted', stop.reason
end
r.seq = math.max(tonumber(r.seq or '0'), tonumber(ARGV[9]))
local log = open_session_log(r)
if ARGV[7] ~= '' then push_reply(r, ARGV[7]) end
finish(r, log, who, status, status == 'failed' and ARGV[6] or '', reason, code)
log.close()
return { 'ENDED', status, redis.call('LLEN', K.queue) > 0 and 1 or 0 }

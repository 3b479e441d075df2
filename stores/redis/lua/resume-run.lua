--[[ resume run: a new run for the turn of one that was interrupted, or failed in a way that may pass. Its
     steps go on behind the last one that the transcript has.
     ARGV 1 sessionId  2 run that is to be continued, or '' for the newest  3 nonce  4 now  5 mode
          6 who asked, or ''
     -> { RESUMED, see newest_run }
        ACTIVE run | STALE run | FINAL status | NOT_FOUND ]]
local sessionId, now = ARGV[1], tonumber(ARGV[4])
local r = root_table()
if not r.agent then return { 'NOT_FOUND' } end
local run, n = next_run(r, sessionId, ARGV[3])
if r.run == sessionId .. ':' .. r.runN .. '-' .. ARGV[3] then
  return { 'RESUMED', unpack(newest_run()) }
end
if not TERMINAL[r.status] then return { 'ACTIVE', r.run } end
if ARGV[2] ~= '' and ARGV[2] ~= r.run then return { 'STALE', r.run } end
local may_pass = r.status == 'failed' and r.error and cjson.decode(r.error).retryable
if r.status ~= 'interrupted' and not may_pass then return { 'FINAL', r.status } end

-- A reply that was folded from the log, for want of its writer, stands in the transcript only.
local step, claimed = tonumber(r.committed), tonumber(r.claimed)
for at = redis.call('LLEN', K.rows) - 1, tonumber(r.turnRow), -1 do
  local row = cjson.decode(redis.call('LINDEX', K.rows, at))
  if row.role == 'assistant' then
    step = math.max(step, row.step)
    break
  end
end
-- What nothing came of is said anew, under the same step.
if claimed > step then remove_entries(tonumber(r.runSeq), 'm' .. string.format('%d', claimed)) end

recount_controls()
local log = open_session_log(r)
log.write('', own_chunk({ agentId = sessionId, agentType = r.agent, step = step, now = now }, 'run_resumed', {
  runId = run, fromCheckpointId = r.checkpoint or cjson.null, fromStepCount = step, mode = ARGV[5],
}))
log.close()
start_run({
  id = run, n = n, mode = ARGV[5], by = ARGV[6], turn = r.turn, message = r.messageId, turnSeq = r.turnSeq,
  turnRow = r.turnRow, seq = log.prev, step = step,
}, log.seq, ARGV[4])
return { 'RESUMED', unpack(newest_run()) }

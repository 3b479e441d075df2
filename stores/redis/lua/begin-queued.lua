--[[ begin queued: makes a run for the messages that have waited longest.
     ARGV 1 sessionId  2 nonce  3 now  4 stream cap, 0: none
     -> BEGUN run turn messageId startSequence agent tenant    also if this nonce has begun it
        BUSY | EMPTY ]]
local r = root_table()
if r.run and r.run:sub(-#ARGV[2] - 1) == '-' .. ARGV[2] then
  return { 'BEGUN', r.run, tonumber(r.turn), r.messageId, tonumber(r.turnSeq), r.agent, r.tenant or '' }
end
if r.status and not TERMINAL[r.status] then return { 'BUSY' } end
if redis.call('LLEN', K.queue) == 0 then return { 'EMPTY' } end
local log = open_session_log(r)
local run, turn, message, start = make_run(r, log, {
  sessionId = ARGV[1], agent = r.agent, nonce = ARGV[2], now = ARGV[3], cap = tonumber(ARGV[4]),
  messages = pop_queued().messages, waited = true,
})
return { 'BEGUN', run, turn, message, start, r.agent, r.tenant or '' }

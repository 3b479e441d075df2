--[[ branch: makes a session out of rows of another one. It is at rest: its run number 0 has completed.
     ARGV 1 sessionId  2 agent  3 owner  4 tenant  5 nonce  6 now  7 who asked, or ''
          8 turn  9 its first row  10 id of its reply  11 step behind which it ended  12 '1' if it has a reply
          13 how many messages people see  14 the agent's own state, or ''
          15 row count, rows, then message count and per message: id, hash, then result count and per
          result: id of its call, large output or ''
     -> BRANCHED               made before under this nonce, too
        EXISTS ]]
local sessionId, nonce, now = ARGV[1], ARGV[5], tonumber(ARGV[6])
local r = root_table()
if r.agent and r.born == nonce and r.mode == 'branch' then return { 'BRANCHED' } end
if next(r) then return { 'EXISTS' } end

local at = 16
for _ = 1, tonumber(ARGV[15]) do
  redis.call('RPUSH', K.rows, ARGV[at])
  at = at + 1
end
local messages = tonumber(ARGV[at])
at = at + 1
for _ = 1, messages do
  redis.call('HSET', K.messages, ARGV[at], ARGV[at + 1])
  at = at + 2
end
local results = tonumber(ARGV[at])
at = at + 1
for _ = 1, results do
  redis.call('SADD', K.settled, ARGV[at])
  if ARGV[at + 1] ~= '' then redis.call('HSET', K.results, ARGV[at], ARGV[at + 1]) end
  at = at + 2
end
redis.call('HSET', K.root, 'agent', ARGV[2], 'owner', ARGV[3], 'tenant', ARGV[4], 'created', ARGV[6], 'born', nonce,
  'uiCount', ARGV[13])
if ARGV[14] ~= '' then put_state(r, ARGV[14]) end
start_run({
  id = sessionId .. ':0-' .. nonce, n = 0, mode = 'branch', by = ARGV[7], turn = ARGV[8], message = ARGV[10],
  turnSeq = 0, turnRow = ARGV[9], seq = 0, step = ARGV[11],
}, 0, ARGV[6])
redis.call('HSET', K.root, 'replied', ARGV[12] == '1' and ARGV[8] or '', 'stream', 'ended')
close_run(root_table(), { now = now }, 'completed', '', nil)
arm_expiry(true)
return { 'BRANCHED' }

--[[ note snapshot: remembers that a snapshot of this turn was handed out while the turn was active.
     Not a transition of the run: a hint for the GET that follows. KEYS 1 root  ARGV 1 turn  2 now
     -> 1 | 0 (no such session; none is created) ]]
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'snapTurn', ARGV[1], 'snapAt', ARGV[2])
return 1

// Deadlines, their extension, and answers after them; see mutations.mjs.
const LUA = 'stores/redis/lua';

export const deadlines = [
  {
    defence: 'Deadline: an approval that timed out takes no decision',
    file: `${LUA}/settle-call.lua`,
    edits: [["if by_person and too_late then return { 'EXPIRED' } end\n", '']],
    test: 'settle call, a deadline leaves no room for a decision afterwards, whatever it came to',
  },
  {
    defence: 'Deadline: a late answer is told once',
    file: `${LUA}/settle-call.lua`,
    edits: [["    redis.call('HSET', K.calls, 'lapsed:' .. id, 'told')\n", '']],
    test: 'a late answer is told to the model once, behind the results of the step at work',
  },
  {
    defence: 'Deadline: a late answer is taken in by the next step',
    file: `${LUA}/claim.lua`,
    edits: [['  take_in_notices()\n', '']],
    test: 'a late answer is told to the model once, behind the results of the step at work',
  },
  {
    defence: 'Deadline: a deadline that has passed is not extended',
    file: `${LUA}/extend-deadline.lua`,
    edits: [["if now >= deadline then return { 'EXPIRED' } end\n", '']],
    test: 'extend deadline refuses what does not wait for an answer with a deadline',
  },
  {
    defence: 'Deadline: it is not extended without end',
    file: `${LUA}/extend-deadline.lua`,
    edits: [["if deadline > now + tonumber(ARGV[4]) then return { 'TOO_FAR' } end\n", '']],
    test: 'extend deadline gives more time, over and over, up to a limit',
  },
  {
    defence: 'Deadline: an extension is seen in the record',
    file: `${LUA}/extend-deadline.lua`,
    edits: [['note_deadline()\n', '']],
    test: 'extend deadline gives more time, over and over, up to a limit',
  },
];

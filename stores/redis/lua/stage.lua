--[[ stage: keeps what a call wants changed in the agent's own state, until its step is promoted.
     ARGV 1 stepId  2 toolCallId  3 changes
     -> STAGED | NOT_FOUND ]]
if not root_table().agent then return { 'NOT_FOUND' } end
stage_changes(ARGV[1], ARGV[2], ARGV[3])
expire_with_root()
return { 'STAGED' }

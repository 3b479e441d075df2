export const TASK_QUEUE = 'peer-turns';
export const TOPIC = 'reply';

import type { AuditEntryReply } from '../../../protocol/audit.js';

/** Acts of the audit trail as people read them. */
export const AUDIT_WORDS: Record<AuditEntryReply['action'], string> = {
  approve: 'Approved',
  deny: 'Denied',
  result: 'Gave a result',
  error: 'Gave an error',
  expire: 'Ran out of time',
  extend: 'Gave more time',
  stop: 'Stopped',
  resume: 'Continued',
  retry: 'Repeated',
  branch: 'Copied',
  erase: 'Asked for erasure',
  erased: 'Erased',
  read: 'Read',
  export: 'Exported',
  forget: 'Forgot a person',
  pause: 'Paused an agent',
  unpause: 'Resumed an agent',
  schedule: 'Changed a schedule',
};

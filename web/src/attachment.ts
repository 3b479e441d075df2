import type { FileUIPart } from 'ai';

/** A file in the composer. */
export interface Attachment {
  /** Of this page. */
  key: string;
  name: string;
  /** Present once the server has it. */
  part?: FileUIPart | undefined;
  /** Why it cannot be sent, for people. */
  fault?: string | undefined;
}

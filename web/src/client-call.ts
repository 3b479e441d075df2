/** A call that the page carries out. */
export interface ClientCall {
  tool: string;
  /** The tool's name for people. */
  title: string;
  toolCallId: string;
  input: unknown;
  /** A call that the conversation has left behind can be read, not answered. */
  open: boolean;
}

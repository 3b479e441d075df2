import type { ForeignShape, ToModelOutput, ToolShape } from './tool-config.js';

/**
 * Tools of an agent that are known only as a run begins, such as a server's. They are listed at the
 * run's first step, and every step, attempt and worker of the run has the same ones.
 */
export interface ToolSource {
  /** Key of the stored list, unique among the agent's sources. */
  readonly name: string;
  /**
   * Returns the current offer as JSON; the run stores it.
   *
   * @param taken names of the agent's own tools
   * @throws ToolError if the run has to fail; the signal's reason once it fires
   */
  readonly list: (
    taken: ReadonlySet<string>,
    host: ToolHost,
    signal: AbortSignal,
  ) => Promise<unknown>;
  /** Creates the tools of a list, which may come from another process or an earlier release. */
  readonly toTools: (listed: unknown, host: ToolHost) => readonly SourcedTool[];
  /** Returns true if the source owns a tool of this name; replays of recorded runs omit it. */
  readonly owns: (toolName: string) => boolean;
  /** Words the results of its tools for the model. Default: the result as JSON. */
  readonly toModelOutput?: ToModelOutput;
}

export interface SourcedTool extends Readonly<ToolShape>, Readonly<ForeignShape> {}

/** The process that executes runs; a source has one set of connections in each. */
export interface ToolHost {
  readonly logger: {
    info: (fields: object, message: string) => void;
    warn: (fields: object, message: string) => void;
  };
  /** Registers a function that runs before the process ends. */
  readonly onClose: (close: () => Promise<unknown>) => void;
}

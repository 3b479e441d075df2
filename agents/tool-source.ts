import type { ForeignShape, ToModelOutput, ToolShape } from './tool-config.js';

/**
 * Tools of an agent that are known only as a run begins, such as those of servers. They are listed at the
 * run's first step, and every step, attempt and worker of the run has the same ones.
 */
export interface ToolSource {
  /** What it lists is kept under this name, which no other source of the agent has. */
  readonly name: string;
  /**
   * What it offers now, as JSON: the run keeps it.
   *
   * @param taken names of the agent's own tools
   * @throws ToolError if the run is to fail; what the signal gives
   */
  readonly list: (
    taken: ReadonlySet<string>,
    host: ToolHost,
    signal: AbortSignal,
  ) => Promise<unknown>;
  /** The tools of what was listed, perhaps by another process or an earlier release. */
  readonly toTools: (listed: unknown, host: ToolHost) => readonly SourcedTool[];
  /** Whether a tool of this name is one of its own: recorded runs are replayed without it. */
  readonly owns: (toolName: string) => boolean;
  /** What the model gets of the results of its tools. Default: the result as JSON. */
  readonly toModelOutput?: ToModelOutput;
}

/** A tool of a source. */
export interface SourcedTool extends Readonly<ToolShape>, Readonly<ForeignShape> {}

/** The process that carries out runs: a source has its connections once in each. */
export interface ToolHost {
  readonly logger: {
    info: (fields: object, message: string) => void;
    warn: (fields: object, message: string) => void;
  };
  /** Is called before the process ends. */
  readonly onClose: (close: () => Promise<unknown>) => void;
}

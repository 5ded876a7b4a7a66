/** What a command may know of the world. */
export interface Context {
  env: Readonly<Record<string, string | undefined>>;
  out: (line: string) => void;
  error: (line: string) => void;
  /** Aborts when the user wants to stop. */
  signal: AbortSignal;
}

export interface CommandOption {
  type: 'string' | 'boolean';
  means: string;
}

/** One row of the command table. */
export interface Command {
  does: string;
  usage: string;
  options: Readonly<Record<string, CommandOption>>;
  /** Resolves with the exit code. */
  run(values: Readonly<Record<string, string | boolean | undefined>>, context: Context): Promise<number>;
}

/** The command line cannot be understood: the message says why, and help follows. */
export class UsageError extends Error {
  override name = 'UsageError';
}

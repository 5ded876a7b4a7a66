/** What a command may know of the world. */
export interface Context {
  env: Readonly<Record<string, string | undefined>>;
  out: (line: string) => void;
  error: (line: string) => void;
  /** Aborts when the user wants to stop. */
  signal: AbortSignal;
  /** True in a terminal: then progress is drawn. */
  isTerminal: boolean;
}

interface CommandOption {
  type: 'string' | 'boolean';
  means: string;
}

export type Values = Readonly<Record<string, string | boolean | undefined>>;

/** One row of the command table. */
export interface Command {
  does: string;
  usage: string;
  options: Readonly<Record<string, CommandOption>>;
  /** Words after the command; null: as many as there are, passed through. */
  words?: { least: number; most: number } | null;
  /** Resolves with the exit code. */
  run(values: Values, context: Context, words: readonly string[]): Promise<number>;
}

/** The command line cannot be understood: the message says why, and help follows. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Who to talk to; most commands take these. */
export const accountOptions = {
  url: { type: 'string', means: 'The service; else SVC_URL, else what npm start left in .parley/dev.env.' },
  'api-key': { type: 'string', means: 'Its API key; else SVC_API_KEY, else .parley/dev.env.' },
} as const satisfies Command['options'];

export const jsonOption = {
  json: { type: 'boolean', means: 'JSON for programs.' },
} as const satisfies Command['options'];

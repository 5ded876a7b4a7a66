/** What the client does after a close. */
export type Reaction = 'stop' | 'reconnect' | 'resume' | 'renewToken' | 'wait' | 'elsewhere';

/** The SDK's reconnect policy. Apart from the meanings, so that a browser loads only this. */
export const closeReactions = {
  1000: 'stop',
  1001: 'reconnect',
  1009: 'stop',
  4400: 'stop',
  4401: 'renewToken',
  4403: 'stop',
  4404: 'stop',
  4408: 'resume',
  4409: 'stop',
  4410: 'stop',
  4422: 'stop',
  4429: 'wait',
  4500: 'reconnect',
  4503: 'elsewhere',
} as const satisfies Record<number, Reaction>;

export type CloseCode = keyof typeof closeReactions;

import type { ChatClientFrames, FrameData } from '@parley/contract';
import { ConnectionError, errorFrom, type SvcError } from '../errors.ts';
import type { ChatProtocol, Request } from '../frames.ts';
import type { SubscribeItem } from './records.ts';

export type Wanted = FrameData<ChatClientFrames['subscribe']>['conversations'][number];

/** What the server says of each of them, in their order. */
export async function askSubscriptions(request: Request<ChatProtocol>, wanted: Wanted[]): Promise<SubscribeItem[]> {
  return (await request({ type: 'subscribe', conversations: wanted })).conversations;
}

export const removedError = errorFrom({
  svcCode: 'SVC_NOT_A_MEMBER',
  message: 'The user left, or it was deleted.',
});

export function refusalOf(item: { code?: string } | undefined, ref: string, limit?: number): SvcError {
  const code = `SVC_${item?.code ?? 'INTERNAL'}`;
  const message =
    code === 'SVC_SUBSCRIPTION_LIMIT'
      ? `Join at most ${limit}: leave() one, or make another Chat.`
      : `"${ref}" cannot be joined.`;
  return errorFrom({ svcCode: code, message });
}

export const otherUser = (was: string, is: string): ConnectionError =>
  new ConnectionError('forbidden', {
    code: 'other_user',
    message: `The \`token\` function gave a token of "${is}", this Chat is of "${was}". Make a new Chat.`,
  });

import { useRoom } from '@parley/client/react';
import { useState } from 'react';
import { CallView, type CallViewProps } from './call-view.tsx';
import type { JoinChoices } from './pre-join.tsx';
import { type Publish, usePublished } from './use-published.ts';

export interface InCallProps extends CallViewProps {
  choices: JoinChoices;
  publish?: Publish | undefined;
}

/** The call itself, connected while it is in the page. */
export function InCall({ choices, publish, ...props }: InCallProps) {
  const [error, setError] = useState<unknown>(null);
  useRoom(props.room);
  usePublished(props.room, choices, publish, setError);
  return <CallView {...props} error={error ?? props.error} />;
}

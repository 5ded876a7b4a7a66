import type { DataChannelName, DataFlowState, DataHead } from '@parley/media-description';
import type { TrackDescription } from './remote-track.ts';

/** What the processes of one room tell each other, in order and without loss. */
export type LegMessage = { room: string } & (
  | LegState
  | { is: 'participant'; participant: LegParticipant }
  | { is: 'participant.gone'; id: string }
  | { is: 'track'; owner: string; track: TrackDescription }
  | { is: 'track.gone'; id: string }
  | {
      is: 'data';
      from: string;
      channel: DataChannelName;
      head: DataHead;
      payload: string;
      flow?: LegDataFlow;
      choice?: LegChoice;
    }
  | { is: 'unlink' }
);

/** Everything there is on one side; `isAnswer` to that of the other side. */
export interface LegState {
  is: 'state';
  isAnswer: boolean;
  participants: LegParticipant[];
  tracks: { owner: string; track: TrackDescription }[];
  /** Of those tracks: in the codec for who cannot decode the first. Processes from before leave it out. */
  backups?: TrackDescription[];
}

/** For a sender of reliable data: in a message from nobody, which processes from before drop. */
export interface LegDataFlow {
  sender: string;
  state: DataFlowState;
}

/** Which microphones of a large room are forwarded; in a message from nobody too. */
export interface LegChoice {
  /** The lowest of those that are said leads. */
  rank: string;
  tracks: string[];
}

export interface LegParticipant {
  id: string;
  identity: string;
  /** Whether data reaches it. */
  hasData: boolean;
}

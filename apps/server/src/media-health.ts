import type { MediaState } from './media-node.ts';

interface MediaHealthDeps {
  mediaNode?: (() => MediaState | null) | undefined;
  takesRooms: (options: { except: string | null }) => Promise<boolean>;
}

interface MediaHealth {
  status: MediaState['status'];
  message?: string;
}

/** Whether calls would have media, in one word and for a person: of the node beside this server, else of the fleet. */
export function createMediaHealth({ mediaNode, takesRooms }: MediaHealthDeps): () => Promise<MediaHealth> {
  return async () => {
    const beside = mediaNode?.() ?? null;
    if (beside?.status === 'OK' || beside?.status === 'STARTING') return { status: beside.status };
    // The fleet believes for a heartbeat's timeout that a node which has just ended is there.
    if (await takesRooms({ except: beside?.name ?? null })) return { status: 'OK' };
    const message = beside === null ? 'No media node takes rooms.' : `The media node does not run: ${beside.problem}`;
    return { status: 'DOWN', message };
  };
}

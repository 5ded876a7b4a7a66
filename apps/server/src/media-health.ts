import type { MediaState } from './media-node.ts';

interface MediaHealthDeps {
  mediaNode?: (() => MediaState | null) | undefined;
  takesRooms: () => Promise<boolean>;
}

export interface MediaHealth {
  status: MediaState['status'];
  message?: string;
}

/** Whether calls would have media, in one word and for a person: of the node beside this server, else of the fleet. */
export function createMediaHealth({ mediaNode, takesRooms }: MediaHealthDeps): () => Promise<MediaHealth> {
  return async () => {
    const beside = mediaNode?.() ?? null;
    if (beside?.status === 'OK' || beside?.status === 'STARTING') return { status: beside.status };
    if (await takesRooms()) return { status: 'OK' };
    const message = beside === null ? 'No media node takes rooms.' : `The media node does not run: ${beside.problem}`;
    return { status: 'DOWN', message };
  };
}

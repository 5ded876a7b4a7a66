import { isUuid } from '../../core/uuid.ts';

/** How a conversation may be named in a path or frame. Names cannot look like ids, so the shape decides. */
export type Reference = { by: 'publicId' | 'uuid' | 'roomId' | 'name'; value: string };

export function readReference(text: string): Reference {
  if (text.startsWith('conv_')) return { by: 'publicId', value: text };
  if (isUuid(text)) return { by: 'uuid', value: text.toLowerCase() };
  if (text.startsWith('room_')) return { by: 'roomId', value: text };
  return { by: 'name', value: text };
}

/** True for a name that could be taken for an id. */
export const looksLikeId = (name: string): boolean => readReference(name).by !== 'name';

/** One click away; the first three also at a message. */
export const QUICK_EMOJI = ['👍', '❤️', '😂', '👏', '🎉', '😮'] as const;

'use client';

export type { ChatMentions } from '../chat/context.ts';
export { type MentionsOptions, useMentions } from './use-mentions.tsx';

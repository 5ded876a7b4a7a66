/** What moderation says to who speaks in a conversation. */
export const speaking = ['SVC_CONVERSATION_ARCHIVED', 'SVC_CHAT_MUTED', 'SVC_CHAT_BLOCKED'] as const;
export const edited = [...speaking, 'SVC_MESSAGE_REJECTED'] as const;
export const sending = [...edited, 'SVC_SLOW_MODE'] as const;

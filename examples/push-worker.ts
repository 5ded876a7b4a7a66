import { servePush } from '@parley/client/push-worker';

servePush({ icon: '/icon.png', pageOf: ({ conversationId }) => `/chat/${conversationId}` });

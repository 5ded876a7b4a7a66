import { accountRoutes } from './accounts/routes.ts';
import { alertRoutes } from './alerts/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { chatBlockRoutes } from './chat/block-routes.ts';
import { chatDashboardRoutes } from './chat/dashboard-routes.ts';
import { fileDashboardRoutes } from './chat/file-dashboard-routes.ts';
import { moderationDashboardRoutes } from './chat/moderation-dashboard-routes.ts';
import { chatModerationRoutes } from './chat/moderation-routes.ts';
import { chatRoutes } from './chat/routes.ts';
import { dataRoutes } from './data/routes.ts';
import { endUserRoutes } from './end-users/routes.ts';
import { fleetRoutes } from './fleet/routes.ts';
import { liveStreamRoutes } from './live-streams/routes.ts';
import { observabilityRoutes } from './observability/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { signingKeyRoutes } from './projects/signing-keys.ts';
import { pushRoutes } from './push/routes.ts';
import { roomRoutes } from './rooms/routes.ts';
import { signalingRoutes } from './signaling/routes.ts';
import { usageRoutes } from './usage/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Every route of the service. A row without a handler, or a handler without a row, does not compile. */
export const allRoutes = {
  ...accountRoutes,
  ...projectRoutes,
  ...signingKeyRoutes,
  ...auditRoutes,
  ...endUserRoutes,
  ...dataRoutes,
  ...fleetRoutes,
  ...roomRoutes,
  ...signalingRoutes,
  ...liveStreamRoutes,
  ...observabilityRoutes,
  ...usageRoutes,
  ...webhookRoutes,
  ...alertRoutes,
  ...chatRoutes,
  ...chatModerationRoutes,
  ...chatBlockRoutes,
  ...chatDashboardRoutes,
  ...moderationDashboardRoutes,
  ...fileDashboardRoutes,
  ...pushRoutes,
} as const;
export type AllRoutes = typeof allRoutes;
export type RouteName = keyof AllRoutes;

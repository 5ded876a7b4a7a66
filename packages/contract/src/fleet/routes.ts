import { Type } from 'typebox';
import { routes } from '../route.ts';
import {
  DrainServer,
  FleetTotals,
  Heartbeat,
  HeartbeatAnswer,
  MediaReach,
  RegisteredServer,
  RegisterServer,
  RtcServer,
  RtcServerLoad,
} from './schemas.ts';

const notFound = ['SVC_SERVER_NOT_FOUND'] as const;

export const fleetRoutes = routes({
  getMediaReach: {
    at: 'GET /v1/rtc/reach',
    by: ['none'],
    budget: 60,
    returns: [200, MediaReach],
    does: 'Says where media would go, for connection checks: the relays that a join would name, without a credential.',
  },
  listServers: {
    at: 'GET /v1/rtc/servers',
    by: ['session'],
    needs: 'server:read',
    returns: [200, Type.Array(RtcServer)],
    does: 'Lists the media nodes.',
  },
  getFleetTotals: {
    at: 'GET /v1/rtc/servers/metrics',
    by: ['session'],
    needs: 'server:read',
    returns: [200, FleetTotals],
    does: 'Sums up the fleet: nodes that are offline count as nodes, not as load or capacity.',
  },
  getServer: {
    at: 'GET /v1/rtc/servers/{name}',
    by: ['session'],
    needs: 'server:read',
    returns: [200, RtcServer],
    throws: notFound,
    does: 'Reads one media node.',
  },
  getServerLoad: {
    at: 'GET /v1/rtc/servers/{name}/load',
    by: ['session'],
    needs: 'server:read',
    returns: [200, RtcServerLoad],
    throws: notFound,
    does: 'Reads how the load of a media node went in the last hour, and how many of its rooms are left while it is drained.',
  },
  drainServer: {
    at: 'POST /v1/rtc/servers/{name}/drain',
    by: ['session'],
    needs: 'server:manage',
    body: DrainServer,
    isBodyOptional: true,
    returns: [200, RtcServer],
    throws: notFound,
    does: 'Sends no new room to a node from the moment this answers; with `force` its clients are moved too.',
  },
  undrainServer: {
    at: 'POST /v1/rtc/servers/{name}/undrain',
    by: ['session'],
    needs: 'server:manage',
    returns: [200, RtcServer],
    throws: notFound,
    does: 'Puts a node back into the pool.',
  },
  registerServer: {
    at: 'POST /v1/rtc/servers/register',
    by: ['sfuSecret'],
    body: RegisterServer,
    returns: [201, RegisteredServer, 200],
    throws: ['SVC_SERVER_NAME_TAKEN'],
    does: 'Registers a media node; a restart under the same name reclaims its row (200).',
  },
  deregisterServer: {
    at: 'DELETE /v1/rtc/servers/{name}',
    by: ['sfuSecret'],
    returns: [204, null],
    throws: notFound,
    does: 'A media node that ends: its clients are moved to other nodes and it leaves the fleet. One that was drained by an operator stays listed, drained.',
  },
  heartbeatServer: {
    at: 'PUT /v1/rtc/servers/{name}/heartbeat',
    by: ['sfuSecret'],
    body: Heartbeat,
    returns: [200, HeartbeatAnswer],
    throws: notFound,
    does: 'Reports liveness and load. 404 means: register again.',
  },
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AllRoutes, AnswerOf, BodyOf, EventData, EventType, ParamsOf, QueryOf, RouteName } from './index.ts';
import type { EventRecords, RouteRecords } from './types.gen.ts';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Given<N extends RouteName> = Required<RouteRecords[N]['input']>;
type Query<N extends RouteName> = 'query' extends keyof Given<N> ? Given<N>['query'] : Record<string, never>;
type Body<N extends RouteName> = 'body' extends keyof Given<N> ? Given<N>['body'] : undefined;
type Params<N extends RouteName> = Omit<RouteRecords[N]['input'], 'query' | 'body'>;

type SameRoute<N extends RouteName> = [
  Same<RouteRecords[N]['answer'], AnswerOf<AllRoutes[N]>>,
  Same<Query<N>, QueryOf<AllRoutes[N]>>,
  Same<Body<N>, BodyOf<AllRoutes[N]>>,
  Same<Params<N>, ParamsOf<AllRoutes[N]>>,
];
type DifferentRoutes = {
  [N in RouteName]: SameRoute<N> extends [true, true, true, true] ? never : N;
}[RouteName];
type DifferentEvents = { [T in EventType]: Same<EventRecords[T], EventData<T>> extends true ? never : T }[EventType];

test('[PKG-4] the plain interfaces are the types of the tables: of every route what it takes and gives, of every event its data', () => {
  // A name that differs does not compile here.
  const noRoute: [DifferentRoutes] extends [never] ? true : DifferentRoutes = true;
  const noEvent: [DifferentEvents] extends [never] ? true : DifferentEvents = true;
  assert.ok(noRoute && noEvent);
});

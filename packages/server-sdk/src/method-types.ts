import type { AllRoutes, AnswerOf, BodyOf, QueryOf, RouteName } from '@parley/contract';
import type { List, Page } from './list.ts';
import type { WebhookEvent } from './webhooks.ts';

/** What the generated methods are written in: each follows from the route's row. */
export type Query<N extends RouteName> = QueryOf<AllRoutes[N]>;
export type Body<N extends RouteName> = BodyOf<AllRoutes[N]>;
export type One<N extends RouteName> = Promise<AnswerOf<AllRoutes[N]>>;

type Item<T> = T extends readonly (infer I)[] ? I : never;
export type Many<N extends RouteName> = List<Page<Item<AnswerOf<AllRoutes[N]>>>, Item<AnswerOf<AllRoutes[N]>>>;

type ItemIn<Answer, Row> = Row extends { walk: { items: infer F extends keyof Answer } } ? Item<Answer[F]> : never;
type WalkItem<N extends RouteName> = ItemIn<AnswerOf<AllRoutes[N]>, AllRoutes[N]>;
export type Walked<N extends RouteName> = List<AnswerOf<AllRoutes[N]>, WalkItem<N>>;

export type Streamed = AsyncIterable<WebhookEvent>;

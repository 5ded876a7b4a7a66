/**
 * The kinds of Kubernetes that our chart makes, as its API reference (1.31) has them, with the fields that a chart may
 * set and as strict as the API server with `fieldValidation=Strict`: a name that is not here is a typing error.
 */
import Type, { type TProperties, type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

const { Array: List, Boolean: Flag, Integer, Literal, Optional, String: Text, Union, Record: MapOf } = Type;

const strict = <T extends TProperties>(properties: T) => Type.Object(properties, { additionalProperties: false });
/** Every field may be left out. */
const fields = <T extends Record<string, TSchema>>(properties: T) =>
  strict(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Optional(schema)])));
const words = (...allowed: string[]) => Union(allowed.map((word) => Literal(word)));

const strings = MapOf(Text(), Text());
const quantity = Union([Integer(), Text({ pattern: '^\\d+(\\.\\d+)?(m|k|[KMGT]i?)?$' })]);
/** DNS labels: names of objects, containers and volumes. */
const name = Text({ pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$', maxLength: 253 });
const portNumber = Integer({ minimum: 1, maximum: 65_535 });
const portName = Text({ pattern: '^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$' });
const port = Union([portNumber, portName]);
const intOrPercent = Union([Integer({ minimum: 0 }), Text({ pattern: '^\\d+%$' })]);
const seconds = Integer({ minimum: 0 });

const metadata = strict({
  name,
  labels: Optional(MapOf(Text(), Text({ pattern: '^([A-Za-z0-9]([-\\w.]{0,61}[A-Za-z0-9])?)?$' }))),
  annotations: Optional(strings),
  namespace: Optional(name),
});
const selector = fields({ matchLabels: strings });
const reference = strict({ name });

const keyReference = strict({ name, key: Text(), optional: Optional(Flag()) });
const env = strict({
  name: Text({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
  value: Optional(Text()),
  valueFrom: Optional(
    fields({
      fieldRef: strict({ fieldPath: words('spec.nodeName', 'status.hostIP', 'status.podIP', 'metadata.name') }),
      secretKeyRef: keyReference,
      configMapKeyRef: keyReference,
    }),
  ),
});

const probe = fields({
  httpGet: strict({ path: Text({ pattern: '^/' }), port, scheme: Optional(words('HTTP', 'HTTPS')) }),
  tcpSocket: strict({ port }),
  exec: strict({ command: List(Text()) }),
  periodSeconds: Integer({ minimum: 1 }),
  timeoutSeconds: Integer({ minimum: 1 }),
  initialDelaySeconds: seconds,
  failureThreshold: Integer({ minimum: 1 }),
  successThreshold: Integer({ minimum: 1 }),
});

const container = strict({
  name,
  image: Text({ pattern: '^\\S+:[\\w][\\w.-]{0,127}$' }),
  imagePullPolicy: Optional(words('Always', 'IfNotPresent', 'Never')),
  command: Optional(List(Text())),
  args: Optional(List(Text())),
  ports: Optional(
    List(
      strict({
        name: Optional(portName),
        containerPort: portNumber,
        hostPort: Optional(portNumber),
        protocol: Optional(words('TCP', 'UDP', 'SCTP')),
      }),
    ),
  ),
  env: Optional(List(env)),
  envFrom: Optional(List(fields({ secretRef: reference, configMapRef: reference, prefix: Text() }))),
  startupProbe: Optional(probe),
  readinessProbe: Optional(probe),
  livenessProbe: Optional(probe),
  lifecycle: Optional(fields({ preStop: fields({ exec: strict({ command: List(Text()) }) }) })),
  securityContext: Optional(
    fields({
      allowPrivilegeEscalation: Flag(),
      readOnlyRootFilesystem: Flag(),
      privileged: Flag(),
      capabilities: fields({ add: List(Text()), drop: List(Text()) }),
    }),
  ),
  resources: Optional(fields({ requests: MapOf(Text(), quantity), limits: MapOf(Text(), quantity) })),
  volumeMounts: Optional(List(strict({ name, mountPath: Text({ pattern: '^/' }), readOnly: Optional(Flag()) }))),
});

const fileMode = Integer({ minimum: 0, maximum: 0o777 });
const relativePath = Text({ pattern: '^[^/]' });
const items = List(strict({ key: Text(), path: relativePath, mode: Optional(fileMode) }));
const volume = strict({
  name,
  emptyDir: Optional(fields({ medium: Text(), sizeLimit: quantity })),
  projected: Optional(
    fields({
      defaultMode: fileMode,
      sources: List(
        fields({
          // The API takes no token of less than ten minutes.
          serviceAccountToken: strict({
            path: relativePath,
            expirationSeconds: Optional(Integer({ minimum: 600, maximum: 2 ** 32 })),
            audience: Optional(Text()),
          }),
          configMap: strict({ name, items: Optional(items), optional: Optional(Flag()) }),
        }),
      ),
    }),
  ),
});

const pod = strict({
  containers: List(container, { minItems: 1 }),
  restartPolicy: Optional(words('Always', 'OnFailure', 'Never')),
  serviceAccountName: Optional(name),
  automountServiceAccountToken: Optional(Flag()),
  enableServiceLinks: Optional(Flag()),
  hostNetwork: Optional(Flag()),
  dnsPolicy: Optional(words('ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None')),
  terminationGracePeriodSeconds: Optional(seconds),
  imagePullSecrets: Optional(List(reference)),
  nodeSelector: Optional(strings),
  tolerations: Optional(
    List(
      fields({
        key: Text(),
        operator: words('Exists', 'Equal'),
        value: Text(),
        effect: words('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
        tolerationSeconds: seconds,
      }),
    ),
  ),
  topologySpreadConstraints: Optional(
    List(
      strict({
        maxSkew: Integer({ minimum: 1 }),
        topologyKey: Text(),
        whenUnsatisfiable: words('DoNotSchedule', 'ScheduleAnyway'),
        labelSelector: Optional(selector),
      }),
    ),
  ),
  securityContext: Optional(
    fields({
      runAsNonRoot: Flag(),
      runAsUser: seconds,
      runAsGroup: seconds,
      fsGroup: seconds,
      seccompProfile: strict({ type: words('RuntimeDefault', 'Localhost', 'Unconfined') }),
    }),
  ),
  volumes: Optional(List(volume)),
});
const template = strict({
  metadata: Optional(fields({ labels: strings, annotations: strings })),
  spec: pod,
});
const rollingUpdate = Optional(fields({ maxUnavailable: intOrPercent, maxSurge: intOrPercent }));

const backend = strict({
  service: strict({ name, port: Union([strict({ name: portName }), strict({ number: portNumber })]) }),
});
const ingressPath = strict({ path: Text({ pattern: '^/' }), pathType: words('Prefix', 'Exact'), backend });

/** By API version and kind: everything beside `apiVersion`, `kind` and `metadata`. */
const kinds: Record<string, TProperties> = {
  'v1 Pod': { spec: pod },
  'v1 Service': {
    spec: strict({
      selector: strings,
      ports: List(strict({ name: Optional(portName), port: portNumber, targetPort: Optional(port) }), { minItems: 1 }),
      type: Optional(words('ClusterIP', 'NodePort', 'LoadBalancer')),
    }),
  },
  'v1 ServiceAccount': { automountServiceAccountToken: Optional(Flag()), imagePullSecrets: Optional(List(reference)) },
  'apps/v1 Deployment': {
    spec: strict({
      replicas: Optional(seconds),
      selector,
      template,
      strategy: Optional(strict({ type: Optional(words('RollingUpdate', 'Recreate')), rollingUpdate })),
    }),
  },
  'apps/v1 DaemonSet': {
    spec: strict({
      selector,
      template,
      updateStrategy: Optional(strict({ type: Optional(words('RollingUpdate', 'OnDelete')), rollingUpdate })),
    }),
  },
  'batch/v1 Job': {
    spec: strict({ template, backoffLimit: Optional(seconds), ttlSecondsAfterFinished: Optional(seconds) }),
  },
  'policy/v1 PodDisruptionBudget': {
    spec: strict({ selector, maxUnavailable: Optional(intOrPercent), minAvailable: Optional(intOrPercent) }),
  },
  'networking.k8s.io/v1 Ingress': {
    spec: strict({
      ingressClassName: Optional(name),
      rules: List(strict({ host: Optional(name), http: Optional(strict({ paths: List(ingressPath) })) })),
      tls: Optional(List(strict({ hosts: List(name), secretName: Optional(name) }))),
    }),
  },
  'autoscaling/v2 HorizontalPodAutoscaler': {
    spec: strict({
      scaleTargetRef: strict({ apiVersion: Text(), kind: Text(), name }),
      minReplicas: Optional(Integer({ minimum: 1 })),
      maxReplicas: Integer({ minimum: 1 }),
      metrics: List(
        strict({
          type: words('Resource'),
          resource: strict({
            name: words('cpu', 'memory'),
            target: strict({ type: words('Utilization'), averageUtilization: Integer({ minimum: 1 }) }),
          }),
        }),
      ),
    }),
  },
  'rbac.authorization.k8s.io/v1 ClusterRole': {
    rules: List(strict({ apiGroups: List(Text()), resources: List(Text()), verbs: List(Text(), { minItems: 1 }) })),
  },
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': {
    roleRef: strict({ apiGroup: words('rbac.authorization.k8s.io'), kind: words('ClusterRole', 'Role'), name }),
    subjects: List(strict({ kind: words('ServiceAccount'), name, namespace: name })),
  },
};

const checks = new Map(
  Object.entries(kinds).map(([kind, rest]) => [
    kind,
    Compile(strict({ apiVersion: Text(), kind: Text(), metadata, ...rest })),
  ]),
);

/** What the API would refuse of an object; nothing when it takes it. */
export function problemsOf(object: { [field: string]: unknown }): string[] {
  const kind = `${object['apiVersion']} ${object['kind']}`;
  const check = checks.get(kind);
  if (!check) return [`${kind} is no kind of ours`];
  const [, problems] = check.Errors(object);
  return problems.map(({ instancePath, message }) => `${kind}${instancePath}: ${message}`);
}

interface Model {
  new (object: unknown): { validate(): void };
}

/** What the schemas that Kubernetes publishes say against an object. They let unknown fields pass; ours do not. */
export async function schemaProblem(object: { [field: string]: unknown }): Promise<string | null> {
  const kind = String(object['kind']);
  const models: Record<string, Model> = await import(`kubernetes-models/${object['apiVersion']}`);
  const Kind = models[kind];
  if (!Kind) return `Kubernetes has no ${object['apiVersion']} ${kind}`;
  try {
    new Kind(object).validate();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

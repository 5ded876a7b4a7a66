import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { Explained } from '../data/errors.ts';
import { useAction } from '../data/use-action.ts';

type Problems<V> = Partial<Record<keyof V & string, string>>;

export interface Form<V extends Record<string, string>> {
  values: V;
  set(name: keyof V & string, value: string): void;
  /** What a text field needs: its value, its change and its error. */
  field(name: keyof V & string): {
    name: string;
    value: string;
    error: string | undefined;
    onChange(event: { target: { value: string } }): void;
  };
  onSubmit(event: FormEvent<HTMLFormElement>): void;
  isBusy: boolean;
  /** A failure that no field shows. */
  failure: Explained | null;
  waitSeconds: number | null;
}

/** Values, their own checks, and the service's answer beside the field it is about. */
export function useForm<V extends Record<string, string>, Out>(options: {
  initial: V;
  check?: (values: V) => Problems<V>;
  submit: (values: V) => Promise<Out>;
  onDone?: (out: Out, values: V) => unknown;
  /** Which field a code without details belongs to. */
  fieldOf?: Readonly<Record<string, keyof V & string>>;
  /** Which field a place in the body belongs to, where they are not called alike. */
  fieldAt?: (path: string) => string;
}): Form<V> {
  const [values, setValues] = useState(options.initial);
  const [problems, setProblems] = useState<Problems<V>>({});
  const form = useRef<HTMLFormElement | null>(null);
  const action = useAction(options.submit, options.onDone ? { onDone: options.onDone } : {});
  const { failure } = action;
  const byCode = failure?.code ? options.fieldOf?.[failure.code] : undefined;

  const { fieldAt = (path) => path } = options;
  const answered = (name: keyof V & string): string | undefined =>
    byCode === name
      ? failure?.message
      : Object.entries(failure?.fields ?? {}).find(([path]) => fieldAt(path) === name)?.[1];
  const isOnAField = failure !== null && Object.keys(values).some((name) => answered(name) !== undefined);

  // Rendered after what the attempt came to: a frame can come before React has shown that.
  const [attempts, setAttempts] = useState(0);
  const focusFirstProblem = (): void => setAttempts((now) => now + 1);
  useEffect(() => {
    if (attempts > 0) form.current?.querySelector<HTMLElement>('[aria-invalid], .notice')?.focus();
  }, [attempts]);

  return {
    values,
    set: (name, value) => setValues((now) => ({ ...now, [name]: value })),
    field: (name) => ({
      name,
      value: values[name] ?? '',
      error: problems[name] ?? answered(name),
      onChange: (event) => {
        setValues((now) => ({ ...now, [name]: event.target.value }));
        setProblems((now) => ({ ...now, [name]: undefined }));
      },
    }),
    async onSubmit(event) {
      event.preventDefault();
      form.current = event.currentTarget;
      if (action.isBusy) return;
      const found = options.check?.(values) ?? {};
      setProblems(found);
      if (Object.values(found).some(Boolean)) return focusFirstProblem();
      await action.run(values);
      focusFirstProblem();
    },
    isBusy: action.isBusy,
    failure: isOnAField ? null : failure,
    waitSeconds: failure?.retryAfterSeconds ?? null,
  };
}

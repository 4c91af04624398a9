import { useNavigate, useSearch } from '@tanstack/react-router';
import type { JSX } from 'react';
import { snippetsFor } from '../../snippets.ts';
import { landing as t } from '../../strings/index.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { useTitle } from '../../ui/document-title.ts';
import { Equation } from './equation.tsx';
import { useExampleModel } from './example-model.ts';
import { readLandingSearch } from './search.ts';

/** Landing page for new visitors. */
export function LandingPage(): JSX.Element {
  return (
    <div className="flex flex-col gap-16 sm:gap-24">
      <Hero />
      <Points />
      <Call />
    </div>
  );
}

function Hero(): JSX.Element {
  useTitle(t.title);
  return (
    <section className="grid items-center gap-10 pt-4 lg:grid-cols-[1.15fr_1fr] lg:gap-16 lg:pt-10">
      <div>
        <h1 tabIndex={-1} className="text-3xl font-semibold tracking-tight text-balance sm:text-4xl">
          {t.title}
        </h1>
        <p className="mt-5 max-w-xl text-lg text-muted">{t.text}</p>
        <p className="mt-8 flex flex-wrap gap-3">
          <LinkButton to="/sign-up" variant="primary" size="lg">
            {t.signUp}
          </LinkButton>
          <LinkButton to="/models" size="lg">
            {t.models}
          </LinkButton>
        </p>
      </div>
      <Equation />
    </section>
  );
}

function Points(): JSX.Element {
  return (
    <ul className="grid gap-x-12 gap-y-8 border-t border-line-strong pt-10 sm:grid-cols-2">
      {t.points.map(({ title, text }) => (
        <li key={title}>
          <h2 className="font-semibold">{title}</h2>
          <p className="mt-1.5 text-muted">{text}</p>
        </li>
      ))}
    </ul>
  );
}

function Call(): JSX.Element {
  const { snippet } = readLandingSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  const model = useExampleModel();
  const snippets = snippetsFor({ model: model?.id ?? 'sandbox/echo', prompt: t.prompt });
  return (
    <section className="grid gap-8 lg:grid-cols-[1fr_1.6fr]">
      <div>
        <h2 className="text-xl font-semibold tracking-tight">{t.call}</h2>
        <p className="mt-2 text-muted">{t.callText}</p>
      </div>
      <CodeBlock
        snippets={snippets}
        chosenId={snippet}
        onChoose={(chosen) => void navigate({ to: '/', search: { snippet: chosen }, replace: true, resetScroll: false })}
      />
    </section>
  );
}

/** Drawings of the product's screens for the walk-through; decorative, so hidden from screen readers. */
import { ArrowUp, Lock } from 'lucide-react'
import type { JSX } from 'react'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { Logo } from '#web/ui/logo.tsx'
import styles from './illustrations.module.css'

function Sheet({ x, y, marked = false }: { x: number; y: number; marked?: boolean }): JSX.Element {
  return (
    <g transform={`translate(${x} ${y})`}>
      <path className={styles.sheet} d="M0 4a4 4 0 0 1 4-4h40l16 16v60a4 4 0 0 1-4 4H4a4 4 0 0 1-4-4Z" />
      <path className={styles.line} d="M44 0v16h16" />
      {marked && <rect className={styles.mark} x="8" y="36" width="44" height="14" rx="2" />}
      <path className={styles.text} d="M10 28h34M10 40h40M10 46h30M10 58h38M10 66h24" />
    </g>
  )
}

export function DocumentsArrive(): JSX.Element {
  return (
    <svg aria-hidden viewBox="0 0 400 150" className={styles.drawing}>
      <Sheet x={28} y={40} />
      <Sheet x={106} y={28} />
      <path className={styles.line} d="M190 70h38m-10-10 10 10-10 10" />
      <path className={styles.arch} d="M262 136V78a46 46 0 0 1 92 0v58Z" />
      <path className={styles.line} d="M252 136h112" />
      <path className={styles.text} d="M280 120h56M280 110h56M280 100h40" />
      <path className={styles.glow} d="M308 52v14m-12-2 4 8m20-8-4 8" />
    </svg>
  )
}

export function SampleQuery(): JSX.Element {
  return (
    <figure className={styles.screen}>
      <figcaption className={styles.caption}>Example</figcaption>
      <blockquote className={styles.query}>What does the contract say about notice periods?</blockquote>
      <div aria-hidden className={styles.composer}>
        <span className={styles.caret} />
        <span className={styles.send}>
          <ArrowUp size={13} />
        </span>
      </div>
      <p aria-hidden className={styles.foot}>
        <Lock size={10} /> Your data stays private
      </p>
    </figure>
  )
}

export function SampleSource(): JSX.Element {
  return (
    <figure className={styles.screen}>
      <figcaption className={styles.caption}>Example</figcaption>
      <div className={styles.columns}>
        <div>
          <div aria-hidden className={styles.answer}>
            <span />
            <span />
            <span className={styles.cited}>
              <i>1</i>
            </span>
          </div>
          <div className={styles.source}>
            <p>Source: Document.pdf p.3</p>
            <p>98% confidence</p>
          </div>
        </div>
        <svg aria-hidden viewBox="-4 -4 68 88" className={styles.page}>
          <Sheet x={0} y={0} marked />
        </svg>
      </div>
    </figure>
  )
}

export function EverythingAtHand(): JSX.Element {
  return (
    <div aria-hidden className={styles.screen}>
      <div className={styles.search}>
        <Logo size={16} />
        <span>notice period</span>
        <kbd>{SHORTCUTS.openPalette.keys.replace('+', ' ')}</kbd>
      </div>
      <div className={styles.results}>
        <span className={styles.chosen} />
        <span />
        <span />
      </div>
    </div>
  )
}

import { Download, MoveHorizontal, Printer, X, ZoomIn, ZoomOut } from 'lucide-react'
import type { JSX } from 'react'

import { nameWithFolder, type DocumentRow } from '#contract/document.ts'
import { documentFileUrl } from '#web/data/documents/document-queries.ts'
import { Button } from '#web/ui/button.tsx'

import { PageField } from './page-field.tsx'
import styles from './viewer-header.module.css'
import { SourceSteps, type SourceNavigation } from './source-steps.tsx'
import { StepButton } from './step-button.tsx'
import { VersionNote } from './version-note.tsx'
import { stepZoom } from './zoom.ts'

interface ViewerHeaderProps {
  document: DocumentRow | null
  /** Shown where the document has no name of its own. */
  citedName: string | null
  page: number
  /** 0 while unknown. */
  pageCount: number
  /** How the page's text was obtained, or the cited cells. */
  note: string | null
  unit: 'Page' | 'Section' | 'Sheet'
  /** Null where the view has no zoom. */
  zoom: number | null
  sourceNavigation: SourceNavigation | undefined
  onGo: (page: number) => void
  onZoom: (zoom: number) => void
  onClose: () => void
  onPrint: () => void
  onOpenVersion: (documentId: string) => void
}

export function ViewerHeader(props: ViewerHeaderProps): JSX.Element {
  const { document, citedName, page, pageCount, note, unit, zoom, sourceNavigation } = props
  const { onGo, onZoom, onClose, onPrint, onOpenVersion } = props
  const name = document?.filename ?? citedName ?? 'Document'
  return (
    <header className={styles.header}>
      <div className={styles.titleRow}>
        <h2 className={styles.title} dir="auto" title={document ? nameWithFolder(document) : name}>
          {name}
        </h2>
        {zoom !== null && <ZoomSteps zoom={zoom} onZoom={onZoom} />}
        {document && (document.state === 'ready' || zoom !== null) && (
          <Button variant="ghost" size="icon" aria-label={`Print ${document.filename}`} onClick={onPrint}>
            <Printer size={16} />
          </Button>
        )}
        {document && (
          <Button variant="ghost" size="icon" asChild>
            <a
              href={documentFileUrl(document.id)}
              download={document.filename}
              aria-label={`Download ${document.filename}`}
            >
              <Download size={16} />
            </a>
          </Button>
        )}
        <Button variant="ghost" size="icon" aria-label="Close document" onClick={onClose}>
          <X size={18} />
        </Button>
      </div>
      {document && (document.version > 1 || document.superseded_at !== null) && (
        <VersionNote document={document} onOpen={onOpenVersion} />
      )}
      {(sourceNavigation !== undefined || pageCount > 1 || note !== null) && (
        <div className={styles.tools}>
          {sourceNavigation && <SourceSteps {...sourceNavigation} />}
          {note !== null && (
            <p className={styles.note} title={note}>
              {note}
            </p>
          )}
          {pageCount > 1 && <PageField page={page} count={pageCount} unit={unit} onGo={onGo} />}
        </div>
      )}
    </header>
  )
}

function ZoomSteps({ zoom, onZoom }: { zoom: number; onZoom: (zoom: number) => void }): JSX.Element {
  const smaller = stepZoom(zoom, -1)
  const larger = stepZoom(zoom, 1)
  return (
    <div className={styles.group} role="group" aria-label="Zoom">
      <StepButton label="Zoom out" isEnd={smaller === zoom} onPress={() => onZoom(smaller)}>
        <ZoomOut size={16} />
      </StepButton>
      <StepButton label="Fit to width" isEnd={zoom === 1} className={styles.fit} onPress={() => onZoom(1)}>
        <MoveHorizontal size={16} />
      </StepButton>
      <StepButton label="Zoom in" isEnd={larger === zoom} onPress={() => onZoom(larger)}>
        <ZoomIn size={16} />
      </StepButton>
    </div>
  )
}

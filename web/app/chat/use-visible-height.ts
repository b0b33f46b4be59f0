import { useEffect } from 'react'

const PROPERTY = '--visible-height'

/**
 * Keeps the page as high as what is to be seen of it. Where `interactive-widget=resizes-content` is not understood, an
 * on-screen keyboard lies over the page and only the visual viewport tells how much of it is left.
 */
export function useVisibleHeight(): void {
  useEffect(() => {
    const { visualViewport: viewport } = window
    if (viewport === null) return
    const { style } = document.documentElement
    const follow = (): void => {
      // Whoever has zoomed in sees less of the page for another reason.
      const isCovered = viewport.scale === 1 && viewport.height < window.innerHeight
      if (!isCovered) return void style.removeProperty(PROPERTY)
      style.setProperty(PROPERTY, `${viewport.height}px`)
      // The browser has scrolled the page to show the box, which is in view by itself now.
      window.scrollTo(0, 0)
    }
    follow()
    viewport.addEventListener('resize', follow)
    return () => {
      viewport.removeEventListener('resize', follow)
      style.removeProperty(PROPERTY)
    }
  }, [])
}

// Runs before the page is painted, so that the chosen colours are there from the start.
(() => {
  const root = document.documentElement;
  const names = { auto: "as the system", light: "light", dark: "dark" };
  const signs = { auto: "◐", light: "○", dark: "●" };
  const kept = () => { try { return localStorage.getItem("msglog-colours"); } catch { return null; } };
  let chosen = kept() in names ? kept() : "auto";
  const show = () => { if (chosen === "auto") root.removeAttribute("data-colours"); else root.setAttribute("data-colours", chosen); };
  show();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const tell = () => {
      button.textContent = signs[chosen];
      button.setAttribute("aria-label", `Colours: ${names[chosen]}`);
      button.title = `Colours: ${names[chosen]}`;
    };
    tell();
    button.addEventListener("click", () => {
      chosen = { auto: "light", light: "dark", dark: "auto" }[chosen];
      try { localStorage.setItem("msglog-colours", chosen); } catch { /* it holds for this page then */ }
      show();
      tell();
    });
  });
})();

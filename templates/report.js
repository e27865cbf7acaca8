(function(){
var tip=document.getElementById("tip");
document.addEventListener("pointermove",function(e){
var g=e.target.closest?e.target.closest("[data-t]"):null;
tip.hidden=!g;if(!g)return;
tip.textContent=g.getAttribute("data-t");
tip.style.left=Math.max(8,Math.min(e.clientX+14,innerWidth-tip.offsetWidth-8))+"px";
tip.style.top=Math.max(8,Math.min(e.clientY+14,innerHeight-tip.offsetHeight-8))+"px";
});
function make(tag,text){var e=document.createElement(tag);if(text)e.textContent=text;if(tag==="button")e.type="button";return e}
function exact(c){
var t=c.getAttribute("title")||"",m=/^[^\d\-]{0,4}(-?)[^\d\-]{0,4}(\d[\d,]*(?:\.\d+)?)$/.exec(t),v=c.getAttribute("data-v");
if(m)return m[1]+m[2].replace(/,/g,"");
return v!==null&&v!==""&&!isNaN(v)?v:null;
}
function key(r,i){var c=r.cells[i],v=c.getAttribute("data-v");
if(v===null&&c.classList.contains("num"))v=exact(c);
return v===null?c.textContent.trim():v}
function copied(c){
var b=c.querySelector("bdi"),t=(b||c).textContent.replace(/\s+/g," ").trim();
if(c.classList.contains("num")&&/\d/.test(t)&&!/%/.test(t)){var n=exact(c);if(n!==null)return n}
return/^[=+\-@]/.test(t)&&isNaN(t)?"'"+t:t;
}
function put(text,done){
function old(){var a=make("textarea");a.value=text;a.setAttribute("readonly","");a.className="sr";document.body.appendChild(a);a.select();
var ok=false;try{ok=document.execCommand("copy")}catch(e){}a.remove();done(ok)}
if(navigator.clipboard&&isSecureContext)navigator.clipboard.writeText(text).then(function(){done(true)},old);else old();
}
function copier(label,what,text){
var b=make("button",label);b.setAttribute("aria-label",label+": "+what);
b.addEventListener("click",function(){put(text(),function(ok){b.textContent=ok?"Copied":"Not allowed here";setTimeout(function(){b.textContent=label},1600)})});
return b;
}
window.report={make:make,copier:copier};
document.querySelectorAll("main table[id]").forEach(function(t){
var body=t.tBodies[0],rows=Array.from(body.rows),region=t.closest(".scroll"),name=t.caption?t.caption.textContent:"table",tools=make("div");
tools.className="tools";
if(rows.length>12){
var f=make("input"),n=make("span");f.type="search";f.placeholder="Filter "+rows.length+" rows";f.setAttribute("aria-label","Filter: "+name);n.setAttribute("role","status");
f.addEventListener("input",function(){
var words=f.value.toLowerCase().split(/\s+/).filter(Boolean),left=0;
rows.forEach(function(r){var s=r.textContent.toLowerCase(),on=words.every(function(w){return s.indexOf(w)>=0});r.hidden=!on;left+=on});
n.textContent=words.length?left+" of "+rows.length:"";
});
tools.appendChild(f);tools.appendChild(n);
}
tools.appendChild(copier("Copy table",name,function(){
return Array.from(t.rows).filter(function(r){return!r.hidden}).map(function(r){return Array.from(r.cells).map(copied).join("\t")}).join("\n")}));
region.parentNode.insertBefore(tools,region);
t.querySelectorAll("thead th").forEach(function(h,i){
var b=make("button");
while(h.firstChild)b.appendChild(h.firstChild);
h.appendChild(b);
b.addEventListener("click",function(){
var up=h.getAttribute("aria-sort")==="descending";
t.querySelectorAll("th[aria-sort]").forEach(function(o){o.removeAttribute("aria-sort")});
h.setAttribute("aria-sort",up?"ascending":"descending");
rows.sort(function(a,c){
var x=key(a,i),y=key(c,i),n=x!==""&&y!==""&&!isNaN(x)&&!isNaN(y)?x-y:x.localeCompare(y);
return up?n:-n}).forEach(function(r){body.appendChild(r)});
});
});
});
var menu=document.querySelector(".menu"),links={};
if(menu)menu.addEventListener("click",function(e){if(e.target.closest("a"))menu.open=false});
if(menu)menu.addEventListener("keydown",function(e){if(e.key==="Escape"&&menu.open){menu.open=false;menu.querySelector("summary").focus()}});
document.querySelectorAll(".toc a").forEach(function(a){links[a.getAttribute("href").slice(1)]=a});
if(window.IntersectionObserver){
var seen=new IntersectionObserver(function(entries){entries.forEach(function(e){
var a=links[e.target.id];if(!a)return;
if(e.isIntersecting){Object.keys(links).forEach(function(k){links[k].removeAttribute("aria-current")});a.setAttribute("aria-current","true")}
})},{rootMargin:"-15% 0px -75% 0px"});
document.querySelectorAll("main section[id]").forEach(function(s){seen.observe(s)});
}
})();
